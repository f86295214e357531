package clients

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// kcat is Debian's kcat (an old librdkafka, so old protocol versions). It sends the same headers with every record.
var kcat = client{name: "kcat", librdkafka: true, produce: kcatProduce, consume: kcatConsume, headers: []header{{"by", []byte("kcat")}, {"kind", []byte("line")}},
	need: func() string { return needProgram("kcat") }}

func needProgram(name string) string {
	if _, err := exec.LookPath(name); err != nil {
		return name + " is not installed (test/install.sh does it)"
	}
	return ""
}

func kcatProduce(j *job) error {
	for p := range j.partitions {
		var text bytes.Buffer
		for _, r := range j.split(p) {
			text.Write(r.key)
			text.WriteByte('\t')
			text.Write(r.value)
			text.WriteByte('\n')
		}
		args := []string{"-P", "-b", j.addr, "-t", j.topic, "-p", strconv.Itoa(p), "-K", "\t", "-z", j.codec, "-X", "acks=all"}
		for _, h := range kcatHeaders() {
			args = append(args, "-H", h)
		}
		cmd := exec.CommandContext(j.ctx, "kcat", args...)
		cmd.Stdin = &text
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("kcat -P partition %d: %w: %s", p, err, out)
		}
	}
	return nil
}

func kcatHeaders() []string { return []string{"by=kcat", "kind=line"} }

func kcatConsume(j *job, out *reading) error {
	for p, end := range j.end {
		if end == 0 {
			continue
		}
		stderr, err := os.CreateTemp(j.dir, "kcat-")
		if err != nil {
			return err
		}
		defer stderr.Close()
		// -e ends at the end of the partition; lengths first, so that any byte may follow.
		cmd := exec.CommandContext(j.ctx, "kcat", "-C", "-b", j.addr, "-t", j.topic, "-p", strconv.Itoa(p), "-o", "beginning", "-e", "-q",
			"-f", `%o %K %S\n%h\n%k%s\n`, "-X", "check.crcs=true", "-X", "fetch.wait.max.ms=100")
		cmd.Stderr = stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		readErr := kcatRecords(bufio.NewReaderSize(stdout, 1<<20), p, out)
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil {
			log, _ := os.ReadFile(filepath.Clean(stderr.Name()))
			return fmt.Errorf("kcat -C partition %d: %w: %s", p, err, log)
		}
		if readErr != nil {
			return readErr
		}
	}
	return nil
}

func kcatRecords(in *bufio.Reader, p int, out *reading) error {
	for {
		var offset int64
		var keyLen, valueLen int
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return nil
		}
		if n, err := fmt.Sscanf(line, "%d %d %d\n", &offset, &keyLen, &valueLen); n != 3 {
			return fmt.Errorf("kcat printed %q: %v", line, err)
		}
		text, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		body := make([]byte, max(keyLen, 0)+max(valueLen, 0)+1)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		out.add(p, offset, body[:max(keyLen, 0)], body[max(keyLen, 0):len(body)-1], textHeaders(strings.TrimSuffix(text, "\n"), "="))
		if out.err != nil {
			return out.err
		}
	}
}

// textHeaders reads "k=v,k=v".
func textHeaders(text, separator string) []header {
	var headers []header
	for h := range strings.SplitSeq(text, ",") {
		if k, v, ok := strings.Cut(h, separator); ok {
			headers = append(headers, header{k, []byte(v)})
		}
	}
	return headers
}
