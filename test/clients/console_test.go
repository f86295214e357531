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

// console is Apache Kafka's console producer and console consumer (--partition). The producer cannot choose a partition, so its topic has
// one.
var console = client{name: "kafka-console", partitions: 1, produce: consoleProduce, consume: consoleConsume, need: needKafkaTools}

func needKafkaTools() string {
	if os.Getenv("KAFKA_HOME_BIN") == "" {
		return "KAFKA_HOME_BIN is not set: it names the folder with Apache Kafka's own tools"
	}
	return ""
}

// kafkaScript finds a tool with or without the .sh that the distribution gives it.
func kafkaScript(name string) string {
	path := filepath.Join(os.Getenv("KAFKA_HOME_BIN"), name)
	if _, err := os.Stat(path); err != nil {
		return path + ".sh"
	}
	return path
}

func consoleProduce(j *job) error {
	var text bytes.Buffer
	for _, r := range j.records {
		for i, h := range r.headers {
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, "%s:%s", h.key, h.value)
		}
		fmt.Fprintf(&text, "\t%s\t%s\n", r.key, r.value)
	}
	cmd := exec.CommandContext(j.ctx, kafkaScript("kafka-console-producer"), "--bootstrap-server", j.addr, "--topic", j.topic,
		"--compression-codec", j.codec, "--request-required-acks", "all", "--reader-property", "parse.key=true",
		"--reader-property", "parse.headers=true", "--command-property", "request.timeout.ms=20000")
	cmd.Stdin = &text
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "ERROR") {
		return fmt.Errorf("console producer: %v: %.2000s", err, out)
	}
	return nil
}

func consoleConsume(j *job, out *reading) error {
	for p, end := range j.end {
		if end == 0 {
			continue
		}
		cmd := exec.CommandContext(j.ctx, kafkaScript("kafka-console-consumer"), "--bootstrap-server", j.addr, "--topic", j.topic,
			"--partition", strconv.Itoa(p), "--offset", "0", "--max-messages", strconv.FormatInt(end, 10), "--timeout-ms", "20000",
			"--formatter-property", "print.offset=true", "--formatter-property", "print.headers=true", "--formatter-property", "print.key=true")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		readErr := consoleRecords(bufio.NewReaderSize(stdout, 1<<20), p, out)
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil || readErr != nil {
			return fmt.Errorf("console consumer partition %d: %v, %v: %.2000s", p, err, readErr, stderr.Bytes())
		}
	}
	return nil
}

func consoleRecords(in *bufio.Reader, p int, out *reading) error {
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return nil
		}
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if len(fields) != 4 || !strings.HasPrefix(fields[0], "Offset:") {
			return fmt.Errorf("console consumer printed %q", line)
		}
		offset, err := strconv.ParseInt(fields[0][len("Offset:"):], 10, 64)
		if err != nil {
			return err
		}
		out.add(p, offset, []byte(fields[2]), []byte(fields[3]), textHeaders(fields[1], ":"))
		if out.err != nil {
			return out.err
		}
	}
}
