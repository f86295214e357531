package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"millrace/test/harness"
)

// The Python clients run as scripts. Records travel over pipes in a plain frame: int32 partition, int64 offset, key, value, int32 number of
// headers, and per header key and value, each with an int32 length in front; all big endian.
var (
	confluentPython = client{name: "confluent-kafka-python", librdkafka: true, produce: scriptProduce("confluent_io.py", pythonCommand), consume: scriptConsume("confluent_io.py", pythonCommand),
		need: func() string { return harness.NeedPython("confluent_kafka") }}
	aiokafka = client{name: "aiokafka", produce: scriptProduce("aiokafka_io.py", pythonCommand), consume: scriptConsume("aiokafka_io.py", pythonCommand),
		need: func() string { return harness.NeedPython("aiokafka") }}
)

// scriptCommand makes the command line of a script.
type scriptCommand func(ctx context.Context, script string, args ...string) *exec.Cmd

func pythonCommand(ctx context.Context, script string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, harness.Python(), append([]string{filepath.Join("py", script)}, args...)...)
}

func scriptProduce(script string, command scriptCommand) func(*job) error {
	return func(j *job) error {
		in := make([]byte, 0, 1<<20)
		for _, r := range j.records {
			in = appendFrame(in, partitionOf(r.key, j.partitions), r)
		}
		cmd := command(j.ctx, script, "produce", j.addr, j.topic, j.codec)
		cmd.Stdin = bytes.NewReader(in)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s produce: %w: %.3000s", script, err, out)
		}
		return nil
	}
}

func scriptConsume(script string, command scriptCommand) func(*job, *reading) error {
	return func(j *job, out *reading) error {
		args := []string{"consume", j.addr, j.topic}
		for _, e := range j.end {
			args = append(args, strconv.FormatInt(e, 10))
		}
		cmd := command(j.ctx, script, args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		readErr := readFrames(bufio.NewReaderSize(stdout, 1<<20), out)
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil || readErr != nil {
			return fmt.Errorf("%s consume: %v, %v: %.3000s", script, err, readErr, stderr.Bytes())
		}
		return nil
	}
}

func appendFrame(dst []byte, partition int, r record) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(partition))
	dst = binary.BigEndian.AppendUint64(dst, 0)
	dst = appendSized(appendSized(dst, r.key), r.value)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(r.headers)))
	for _, h := range r.headers {
		dst = appendSized(appendSized(dst, []byte(h.key)), h.value)
	}
	return dst
}

func appendSized(dst, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
}

func readFrames(in *bufio.Reader, out *reading) error {
	var head [12]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		key, err := readSized(in)
		value, err2 := readSized(in)
		var count uint32
		err3 := binary.Read(in, binary.BigEndian, &count)
		if err := firstError(err, err2, err3); err != nil {
			return err
		}
		headers := make([]header, 0, min(count, 100))
		for range count {
			k, err := readSized(in)
			v, err2 := readSized(in)
			if err := firstError(err, err2); err != nil {
				return err
			}
			headers = append(headers, header{string(k), v})
		}
		out.add(int(binary.BigEndian.Uint32(head[:])), int64(binary.BigEndian.Uint64(head[4:])), key, value, headers)
		if out.err != nil {
			return out.err
		}
	}
}

func readSized(in *bufio.Reader) ([]byte, error) {
	var n uint32
	if err := binary.Read(in, binary.BigEndian, &n); err != nil {
		return nil, err
	}
	if n > 64<<20 {
		return nil, fmt.Errorf("frame field of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}

func firstError(errs ...error) error {
	if i := slices.IndexFunc(errs, func(e error) bool { return e != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
