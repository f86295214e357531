package harness

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// complaints matches every line by which Kafka's DumpLogSegments says that a file is not as it should be.
var complaints = regexp.MustCompile(`^(Mismatches in|Found \d+ invalid bytes|Found timestamp mismatch|Found out of order timestamp|The following indexed offsets are not found|\s+Index offset: |\s+Index timestamp: |\s+Indexed offset: )|isvalid: false|isValid: false|Exception|\bcorrupt\b`)

// gapLine matches the lines that list offsets which do not follow each other.
var gapLine = regexp.MustCompile(`^\s+(-?\d+) is followed by (\d+)`)

// payloadLine matches the lines that show a record's own bytes, whose words are not the tool's.
var payloadLine = regexp.MustCompile(`^\| offset: `)

// DumpResult says what Kafka's own reader saw.
type DumpResult struct {
	Files, Batches, Records int
	Complaints              []string
}

// DumpLog runs Apache Kafka's DumpLogSegments with --deep-iteration over every segment, index and producer snapshot of the partitions of
// a topic under dir, and collects each complaint. The broker may be running, but must not be writing.
func DumpLog(t testing.TB, dir, topic string) DumpResult {
	t.Helper()
	tool := KafkaTool(t, "kafka-dump-log")
	var files []string
	for _, suffix := range []string{"log", "index", "timeindex", "snapshot"} {
		found, err := filepath.Glob(filepath.Join(dir, topic+"-*", "*."+suffix))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	if len(files) == 0 {
		t.Fatalf("no segment of %s under %s", topic, dir)
	}
	result := DumpResult{Files: len(files)}
	// Command lines have a length limit, and one JVM for hundreds of files is much cheaper than one each.
	for chunk := range slices.Chunk(files, 500) {
		if err := dumpFiles(tool, chunk, &result); err != nil {
			t.Fatal(err)
		}
	}
	return result
}

func dumpFiles(tool string, files []string, result *DumpResult) error {
	cmd := exec.Command(tool, "--deep-iteration", "--files", strings.Join(files, ","))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(out, 1<<20)
	dumped := 0
	gapsOf := "" // the file whose offset gaps are being listed
	for {
		line, err := lines.ReadString('\n')
		gap := gapLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "Non-consecutive offsets in "):
			gapsOf = strings.TrimSpace(strings.TrimPrefix(line, "Non-consecutive offsets in "))
		case gap != nil && gap[1] == "-1" && fmt.Sprintf("%020s.log", gap[2]) == filepath.Base(gapsOf):
			// The tool says so of the start of every segment but the first, Apache Kafka's own included.
		case gap != nil:
			result.Complaints = append(result.Complaints, gapsOf+": offset "+strings.TrimSpace(line))
		case payloadLine.MatchString(line):
			result.Records++
		case strings.HasPrefix(line, "Dumping "):
			dumped++
		case strings.HasPrefix(line, "baseOffset: "):
			result.Batches++
			fallthrough
		default:
			if complaints.MatchString(line) {
				result.Complaints = append(result.Complaints, strings.TrimRight(line, "\n"))
			}
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("kafka-dump-log: %w: %s", err, strings.Join(result.Complaints, "; "))
	}
	if dumped != len(files) {
		return fmt.Errorf("kafka-dump-log read %d of %d files", dumped, len(files))
	}
	return nil
}
