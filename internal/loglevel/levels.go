package loglevel

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// Root is the name of the logger that gives the others their level.
const Root = "root"

// Levels is a root level and the loggers of the broker's parts. Any goroutine.
type Levels struct {
	base slog.Handler

	mu    sync.Mutex
	root  slog.LevelVar
	parts map[string]*part
}

// part is one named logger; own tells that it does not follow the root. Guarded by Levels.mu, but for the level, which
// is atomic.
type part struct {
	level slog.LevelVar
	own   bool
}

// New makes a set of loggers that all write to base. base must take every level: what is too low is dropped before it.
func New(base slog.Handler, root slog.Level) *Levels {
	l := &Levels{base: base, parts: map[string]*part{}}
	l.root.Set(root)
	return l
}

// Logger returns the logger of a part of the broker; its lines name it.
func (l *Levels) Logger(name string) *slog.Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.parts[name]
	if p == nil {
		p = &part{}
		p.level.Set(l.root.Level())
		l.parts[name] = p
	}
	return slog.New(&filter{l.base.WithAttrs([]slog.Attr{slog.String("logger", name)}), &p.level})
}

// Main is the logger of what belongs to no part; its level is the root's.
func (l *Levels) Main() *slog.Logger { return slog.New(&filter{l.base, &l.root}) }

// Names are the loggers that there are, the root included, sorted.
func (l *Levels) Names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := append(slices.Collect(maps.Keys(l.parts)), Root)
	slices.Sort(names)
	return names
}

// Known tells whether there is a logger of that name.
func (l *Levels) Known(name string) bool {
	_, ok := l.Level(name)
	return ok
}

// Level is the level in force of a logger.
func (l *Levels) Level(name string) (slog.Level, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name == Root {
		return l.root.Level(), true
	}
	if p := l.parts[name]; p != nil {
		return p.level.Level(), true
	}
	return 0, false
}

// Set gives a logger a level of its own; of the root, it is that of all loggers without one. Unknown names are ignored.
func (l *Levels) Set(name string, level slog.Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name == Root {
		l.root.Set(level)
		for _, p := range l.parts {
			if !p.own {
				p.level.Set(level)
			}
		}
		return
	}
	if p := l.parts[name]; p != nil {
		p.own = true
		p.level.Set(level)
	}
}

// Unset lets a logger follow the root again.
func (l *Levels) Unset(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.parts[name]; p != nil {
		p.own = false
		p.level.Set(l.root.Level())
	}
}
