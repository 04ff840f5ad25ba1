package selection

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/mark"
	"github.com/svmnb/svmnb/internal/wholefile"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// searchFormat changes whenever the scores of an older version would be wrong or
// unreadable. Version 1 had no checksums; a file of it is written again as one of
// version 2.
const searchFormat, searchFormat1 = "svmnb search 2", "svmnb search 1"

// searchHeader is the first line of a file of scores.
type searchHeader struct {
	Format  string `json:"format"`
	Key     string `json:"key"` // of data, learner, folds and metric
	Learner string `json:"learner"`
	Folds   string `json:"folds"`
	Metric  string `json:"metric"`
}

// searchEntry is any other line: the score of a fold at a point.
type searchEntry struct {
	At    map[string]float64 `json:"at"`
	Fold  int                `json:"fold"` // from 0
	Score *float64           `json:"score,omitempty"`
	Error string             `json:"error,omitempty"`
	Sum   string             `json:"sum,omitempty"` // see sum; not in version 1
}

// sum is the first half of the SHA-256 of the search's key and of what the entry says:
// a score that was changed, or comes from the file of another search, has another one.
func (e searchEntry) sum(key string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%x\n%s", key, place(e.At, e.Fold), math.Float64bits(e.score()), e.Error)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (e searchEntry) score() float64 {
	if e.Score == nil {
		return math.NaN()
	}
	return *e.Score
}

// searchLog is the scores that are known, and the file that they are appended to,
// where there is one. A line is one write, so that a run that is killed leaves whole
// lines and at most one that is not, which is passed over. Nothing is ever taken out of
// the file, and only one search at a time has it.
type searchLog struct {
	file    *os.File
	key     string
	known   map[string]searchEntry
	changed int // entries that are not as they were written
}

// searchKey hashes what a score depends on besides the point and the number of the
// fold.
func searchKey(s Searcher, data *datasets.Dataset) (string, error) {
	h := sha256.New()
	// The first version's name: what the scores depend on is the same since.
	fmt.Fprintf(h, "%s\n%v\n%#v\n%#v\n%s\n%d × %d %q\n", searchFormat1, s.learner, s.learner.Detail(), s.folds, s.by.Name, data.N(), data.D(), data.Classes)
	points.Of(data).Hash(h)
	for _, y := range data.Y {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(y)))
	}
	splits, err := split(s.folds, data)
	if err != nil {
		return "", err
	}
	for _, sp := range splits {
		fmt.Fprint(h, sp.Test, "/", len(sp.Train))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// keptSearch is the file of a search in the cache folder.
func keptSearch(s Searcher) (string, error) {
	if err := steps.CheckMissing(s.learner.Data()); err != nil {
		return "", err
	}
	key, err := searchKey(s, s.learner.Data())
	if err != nil {
		return "", err
	}
	dir, err := kept.Dir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(filepath.Dir(dir), "searches")
	return filepath.Join(dir, key+".jsonl"), os.MkdirAll(dir, 0o755)
}

// openLog reads what the file knows and makes it ready for more.
func openLog(s Searcher, data *datasets.Dataset) (*searchLog, error) {
	log := &searchLog{known: map[string]searchEntry{}}
	if s.file == "" {
		return log, nil
	}
	var err error
	if log.key, err = searchKey(s, data); err != nil {
		return nil, err
	}
	if err := log.open(s); err != nil {
		log.close()
		if !errors.As(err, new(*svmnb.ArgumentError)) {
			err = fmt.Errorf("svmnb: File: %w", err)
		}
		return nil, err
	}
	return log, nil
}

func (l *searchLog) open(s Searcher) error {
	refuse := func(msg string, args ...any) error {
		return arguments.Wrong("File", math.NaN(), "%s "+msg+"; choose another name", append([]any{s.file}, args...)...)
	}
	if info, err := os.Stat(s.file); err == nil && !info.Mode().IsRegular() {
		return refuse("is not a regular file")
	}
	var err error
	if l.file, err = os.OpenFile(s.file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644); err != nil {
		return err
	}
	if wholefile.Lock(l.file) == wholefile.Taken {
		return refuse("is in use by another search that runs")
	}
	text, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	own := searchHeader{searchFormat, l.key, s.learner.String(), s.folds.String(), s.by.Name}
	begin, err := json.Marshal(own)
	if err != nil {
		return err
	}
	begin = append(begin, '\n')
	if len(text) < len(begin) && bytes.HasPrefix(begin, text) && (len(text) == 0 || bytes.Contains(text, []byte(l.key))) {
		_, err := l.file.Write(begin[len(text):]) // it is new, or its first line was cut short
		if err != nil && len(text) == 0 {
			err = errors.Join(err, os.Remove(s.file)) // what is there now nobody would know for ours
		}
		return err
	}
	first, rest, whole := bytes.Cut(mark.Cut(text), []byte("\n"))
	var header searchHeader
	switch {
	case !whole || json.Unmarshal(first, &header) != nil || header.Format != searchFormat && header.Format != searchFormat1:
		return refuse("is not the file of a search by this version")
	case header.Key != l.key:
		return refuse("is of another search, %s on %s by %s, or of other data", header.Learner, header.Folds, header.Metric)
	}
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		var e searchEntry
		switch {
		case json.Unmarshal(line, &e) != nil || e.Score == nil && e.Error == "": // a kill has cut it
		case header.Format == searchFormat && e.Sum != e.sum(l.key):
			l.changed++
		default:
			l.known[place(e.At, e.Fold)] = e
		}
	}
	if header.Format == searchFormat1 {
		return l.renew(s.file, begin)
	}
	if text[len(text)-1] != '\n' {
		_, err = l.file.Write([]byte("\n")) // ends the line that a kill has cut
	}
	return err
}

// renew writes the file of an older version as one of this.
func (l *searchLog) renew(path string, begin []byte) error {
	err := wholefile.Write(path, func(w io.Writer) error {
		if _, err := w.Write(begin); err != nil {
			return err
		}
		for _, place := range slices.Sorted(maps.Keys(l.known)) {
			e := l.known[place]
			if err := l.line(w, e); err != nil {
				return err
			}
		}
		return nil
	})
	l.file.Close() // that of the older version
	if err == nil {
		l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	if err == nil && wholefile.Lock(l.file) == wholefile.Taken {
		err = fmt.Errorf("%s is in use by another search that runs", path)
	}
	return err
}

func (l *searchLog) line(w io.Writer, e searchEntry) error {
	e.Sum = e.sum(l.key)
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// place is the key of a point and a fold.
func place(at map[string]float64, fold int) string {
	names := make([]string, 0, len(at))
	for name := range at {
		names = append(names, name)
	}
	var b strings.Builder
	for _, name := range ordered(names) {
		fmt.Fprintf(&b, "%s=%x ", strings.ToLower(name), math.Float64bits(at[name]))
	}
	fmt.Fprint(&b, fold)
	return b.String()
}

func point(names []string, values []float64) map[string]float64 {
	at := map[string]float64{}
	for i, name := range names {
		at[name] = values[i]
	}
	return at
}

func (l *searchLog) find(names []string, values []float64, fold int) (searchEntry, bool) {
	e, ok := l.known[place(point(names, values), fold)]
	return e, ok
}

func (l *searchLog) append(names []string, values []float64, fold int, score float64, failure string) error {
	if l.file == nil {
		return nil
	}
	e := searchEntry{At: point(names, values), Fold: fold, Error: failure}
	if failure == "" {
		e.Score = &score
	}
	if err := l.line(l.file, e); err != nil {
		return fmt.Errorf("svmnb: File: %w", err)
	}
	return nil
}

func (l *searchLog) close() {
	if l.file != nil {
		l.file.Close()
	}
}
