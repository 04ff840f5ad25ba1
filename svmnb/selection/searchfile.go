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

// searchFormat changes whenever scores of an older version would be wrong or unreadable.
// Version 1 had no checksums; a file of version 1 is rewritten as version 2.
const searchFormat, searchFormat1 = "svmnb search 2", "svmnb search 1"

// searchHeader is the first line of a file of scores.
type searchHeader struct {
	Format  string `json:"format"`
	Key     string `json:"key"` // searchKey: a hash of data, learner, folds and metric
	Learner string `json:"learner"`
	Folds   string `json:"folds"`
	Metric  string `json:"metric"`
}

// searchEntry is any other line of the file: the score of one fold of one setting.
type searchEntry struct {
	At     map[string]float64  `json:"at"`
	Fold   int                 `json:"fold"`             // counted from 0
	Points int                 `json:"points,omitempty"` // training points of a round of Halve; 0 for all
	Score  *float64            `json:"score,omitempty"`
	Also   map[string]*float64 `json:"also,omitempty"` // by the other metrics; null where one is not defined
	Error  string              `json:"error,omitempty"`
	Sum    string              `json:"sum,omitempty"` // the result of the method sum; missing in version 1
}

// sum is the checksum of an entry: the first half of the SHA-256 of the search's key and
// the entry. It does not match if the line was changed or comes from another search.
func (e searchEntry) sum(key string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%x\n%s", key, place(e.At, e.Fold, e.Points), math.Float64bits(e.score()), e.Error)
	for _, name := range slices.Sorted(maps.Keys(e.Also)) {
		fmt.Fprintf(h, "\n%s %x", name, math.Float64bits(number(e.Also[name])))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (e searchEntry) score() float64 { return number(e.Score) }

// scores returns the score and those by the other metrics.
func (e searchEntry) scores(also []Metric) []float64 {
	scores := []float64{e.score()}
	for _, m := range also {
		scores = append(scores, number(e.Also[m.Name]))
	}
	return scores
}

// number returns what v points to, NaN for nil.
func number(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// searchLog has the known scores, and the file, if there is one, to which new scores are
// appended. Each line is written by one call, so a run that is killed leaves at most one
// incomplete line, which is skipped on reading. Lines are never removed, and only one
// search at a time uses the file.
type searchLog struct {
	file    *os.File
	key     string
	known   map[string]searchEntry
	changed int // entries whose checksum is wrong
}

// searchKey hashes everything a score depends on, except for the setting and the fold.
func searchKey(s Searcher, data *datasets.Dataset) (string, error) {
	h := sha256.New()
	// The text begins as in version 1, so that keys of that version stay valid.
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

// keptSearch returns the path of the search's file in the cache folder.
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

// openLog reads the scores in the file and opens it for more.
func openLog(s Searcher, data *datasets.Dataset) (*searchLog, error) {
	log := &searchLog{known: map[string]searchEntry{}}
	if s.file == "" && s.place == nil {
		return log, nil
	}
	var err error
	if log.key, err = searchKey(s, data); err != nil || s.file == "" {
		return log, err
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
		_, err := l.file.Write(begin[len(text):]) // the file is new, or its first line was cut short
		if err != nil && len(text) == 0 {
			err = errors.Join(err, os.Remove(s.file)) // an incomplete first line would not be recognised as ours
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
		case json.Unmarshal(line, &e) != nil || e.Score == nil && e.Error == "": // a line cut short by a kill
		case header.Format == searchFormat && e.Sum != e.sum(l.key):
			l.changed++
		default:
			l.known[place(e.At, e.Fold, e.Points)] = e
		}
	}
	if header.Format == searchFormat1 {
		return l.renew(s.file, begin)
	}
	if text[len(text)-1] != '\n' {
		_, err = l.file.Write([]byte("\n")) // ends a line cut short by a kill
	}
	return err
}

// renew rewrites a file of version 1 as version 2.
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
	l.file.Close() // the file of version 1
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

// place is the key in searchLog.known of a setting, a fold, and the training points of a round;
// 0 means all.
func place(at map[string]float64, fold, points int) string {
	names := make([]string, 0, len(at))
	for name := range at {
		names = append(names, name)
	}
	var b strings.Builder
	for _, name := range ordered(names) {
		fmt.Fprintf(&b, "%s=%x ", strings.ToLower(name), math.Float64bits(at[name]))
	}
	fmt.Fprint(&b, fold)
	if points > 0 {
		fmt.Fprintf(&b, " of %d", points)
	}
	return b.String()
}

func point(names []string, values []float64) map[string]float64 {
	at := map[string]float64{}
	for i, name := range names {
		at[name] = values[i]
	}
	return at
}

// find returns the scores of a fold, if the file has them by all metrics.
func (l *searchLog) find(names []string, values []float64, fold, points int, also []Metric) (searchEntry, bool) {
	e, ok := l.known[place(point(names, values), fold, points)]
	for _, m := range also {
		if _, has := e.Also[m.Name]; !has && e.Error == "" {
			return e, false
		}
	}
	return e, ok
}

// entryOf returns the entry for the scores of a fold, or for why it failed.
func entryOf(names []string, values []float64, fold, points int, scores []float64, also []Metric, failure string) searchEntry {
	e := searchEntry{At: point(names, values), Fold: fold, Points: points, Error: failure}
	if failure == "" {
		e.Score = &scores[0]
		for i, m := range also {
			if e.Also == nil {
				e.Also = map[string]*float64{}
			}
			if v := &scores[i+1]; math.IsNaN(*v) || math.IsInf(*v, 0) {
				e.Also[m.Name] = nil
			} else {
				e.Also[m.Name] = v
			}
		}
	}
	return e
}

// append writes the scores of a fold, or why it failed.
func (l *searchLog) append(names []string, values []float64, fold, points int, scores []float64, also []Metric, failure string) error {
	if l.file == nil {
		return nil
	}
	e := entryOf(names, values, fold, points, scores, also, failure)
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
