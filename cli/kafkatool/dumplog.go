package kafkatool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"millrace/cli/jopt"
)

var dumpLogTool = &tool{
	name:    "kafka-dump-log",
	class:   "org.apache.kafka.tools.DumpLogSegments",
	about:   "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly corrupt log segment.",
	help:    "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly corrupt log segment.",
	options: dumpLogOptions,
	run:     runDumpLog,
	parseFail: func(e *Env, err error) error {
		e.complain("Exception in thread \"main\" joptsimple.OptionException: %s", err)
		return Exit(1)
	},
	fail: func(e *Env, err error) error {
		class := "java.io.IOException"
		var number *strconv.NumError
		switch {
		case errors.As(err, &number):
			class = "java.lang.NumberFormatException"
			err = fmt.Errorf("For input string: \"%s\"", number.Num)
		case errors.Is(err, fs.ErrNotExist):
			class = "java.nio.file.NoSuchFileException"
			var p *fs.PathError
			if errors.As(err, &p) {
				err = errors.New(p.Path)
			}
		}
		e.complain("Exception in thread \"main\" %s: %s", class, err)
		return Exit(1)
	},
}

func dumpLogOptions() *jopt.Set {
	return common(jopt.New().
		Str("files", "file1, file2, ...", "REQUIRED: the files to show, separated by commas.").
		Flag("print-data-log", "Show keys and values; implies --deep-iteration.").
		Flag("verify-index-only", "Only check an index against its log, print nothing of it.").
		Flag("index-sanity-check", "Only check the shape of an index.").
		Int("max-message-size", "size", "Largest message size.").Default("5242880").
		Int("max-bytes", "size", "How much of the log to read.").Default("2147483647").
		Flag("deep-iteration", "Show records, not only batches.").
		Add(jopt.Option{Names: []string{"value-decoder-class"}, Arg: jopt.Optional, Default: "org.apache.kafka.tools.api.StringDecoder", Help: "Only strings are read."}).
		Add(jopt.Option{Names: []string{"key-decoder-class"}, Arg: jopt.Optional, Default: "org.apache.kafka.tools.api.StringDecoder", Help: "Only strings are read."}).
		Flag("offsets-decoder", "Read keys and values as those of __consumer_offsets.").
		Flag("transaction-log-decoder", "Read keys and values as those of __transaction_state.").
		Flag("cluster-metadata-decoder", "Read values as Kafka's metadata records.").
		Flag("remote-log-metadata-decoder", "Read values as metadata of remote segments.").
		Flag("share-group-state-decoder", "Read keys and values as those of __share_group_state.").
		Flag("skip-record-metadata", "With --print-data-log show only keys and values."))
}

// dump is one call of the tool. Owned by runDumpLog.
type dump struct {
	e                             *Env
	deep, data, skipMeta, offsets bool
	verifyOnly, sanity            bool
	maxBytes                      int64
	notes                         []note // mismatches, told at the end
}

// note is what is told on stderr when all files have been read.
type note struct {
	head  string
	lines []string
}

func runDumpLog(e *Env, v *jopt.Values) error {
	if err := require(v, "files"); err != nil {
		return err
	}
	for _, o := range []string{"transaction-log-decoder", "cluster-metadata-decoder", "remote-log-metadata-decoder", "share-group-state-decoder"} {
		if v.Has(o) {
			return usagef("--%s is not supported here; --offsets-decoder and strings are", o)
		}
	}
	limit, err := v.Int64("max-bytes", 1<<31-1)
	if err != nil {
		return err
	}
	d := &dump{
		e: e, offsets: v.Has("offsets-decoder"), skipMeta: v.Has("skip-record-metadata"), verifyOnly: v.Has("verify-index-only"), sanity: v.Has("index-sanity-check"), maxBytes: limit,
		data: v.HasAny("print-data-log", "offsets-decoder", "value-decoder-class", "key-decoder-class"),
	}
	d.deep = d.data || v.Has("deep-iteration")
	for _, file := range strings.Split(v.Str("files"), ",") {
		e.println("Dumping %s", file)
		if err := d.file(file); err != nil {
			_ = e.Out.Flush()
			return err
		}
		if e.Ctx.Err() != nil {
			return e.Ctx.Err()
		}
	}
	d.tell()
	return nil
}

func (d *dump) file(path string) error {
	name := filepath.Base(path)
	ext := filepath.Ext(name)
	switch ext {
	case ".log", ".index", ".timeindex", ".snapshot", ".txnindex":
	default:
		d.e.complain("Ignoring unknown file %s", path)
		return nil
	}
	base, err := baseOffset(name)
	if err != nil {
		return err
	}
	switch ext {
	case ".log":
		d.e.println("Log starting offset: %d", base)
		return d.log(path)
	case ".index":
		return d.index(path, base)
	case ".timeindex":
		return d.timeIndex(path, base)
	case ".snapshot":
		return d.snapshot(path)
	}
	return d.txnIndex(path)
}

// baseOffset is the number in a file's name.
func baseOffset(name string) (int64, error) {
	digits, _, _ := strings.Cut(name, ".")
	return strconv.ParseInt(digits, 10, 64)
}

// remember keeps a finding; findings with one head are told together.
func (d *dump) remember(head, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	for i := range d.notes {
		if d.notes[i].head == head {
			d.notes[i].lines = append(d.notes[i].lines, line)
			return
		}
	}
	d.notes = append(d.notes, note{head, []string{line}})
}

func (d *dump) tell() {
	for _, n := range d.notes {
		d.e.complain("%s", n.head)
		for _, l := range n.lines {
			d.e.complain("  %s", l)
		}
	}
}

// openLog opens the log beside an index.
func openLog(path string) (*os.File, error) {
	return os.Open(strings.TrimSuffix(path, filepath.Ext(path)) + ".log")
}

func readAll(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(bufio.NewReader(f))
}
