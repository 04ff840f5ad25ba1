package svmnb

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/svmnb/svmnb/datasets"
)

// searchFormat changes whenever the scores of an older version would be wrong or
// unreadable.
const searchFormat = "svmnb search 1"

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
}

func (e searchEntry) score() float64 {
	if e.Score == nil {
		return math.NaN()
	}
	return *e.Score
}

// searchLog is the scores that are known, and the file that they are appended to,
// where there is one. A line is one write, so that a run that is killed leaves whole
// lines and at most one that is not, which is passed over.
type searchLog struct {
	file  *os.File
	known map[string]searchEntry
}

// searchKey hashes what a score depends on besides the point and the number of the
// fold.
func searchKey(s Search, data *datasets.Dataset) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%v\n%#v\n%#v\n%s\n%d × %d %q\n", searchFormat, s.learner, s.learner.detail(), s.folds, s.by.Name, data.N(), data.D(), data.Classes)
	pointsOf(data).hash(h)
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
func keptSearch(s Search) (string, error) {
	if err := missingAllowed(s.learner.source()); err != nil {
		return "", err
	}
	key, err := searchKey(s, s.learner.source())
	if err != nil {
		return "", err
	}
	dir, err := keepDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(filepath.Dir(dir), "searches")
	return filepath.Join(dir, key+".jsonl"), os.MkdirAll(dir, 0o755)
}

// openLog reads what the file knows and makes it ready for more.
func openLog(s Search, data *datasets.Dataset) (*searchLog, error) {
	log := &searchLog{known: map[string]searchEntry{}}
	if s.file == "" {
		return log, nil
	}
	key, err := searchKey(s, data)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(s.file)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("svmnb: File: %w", err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	var header searchHeader
	json.Unmarshal(lines[0], &header) // what it is not, it does not say
	switch {
	case len(text) == 0:
	case header.Format == "" && !bytes.HasSuffix(lines[0], []byte("\n")) && strings.HasPrefix(`{"format":"`, string(lines[0][:min(len(lines[0]), 11)])):
		text = nil // killed while it wrote its first line
	case header.Format != searchFormat:
		return nil, wrong("File", math.NaN(), "%s is no file of a search by this version; choose another name", s.file)
	case header.Key != key:
		return nil, wrong("File", math.NaN(), "%s is of another search, %s on %s by %s, or of other data; choose another name", s.file, header.Learner, header.Folds, header.Metric)
	}
	for _, line := range lines[1:] {
		var e searchEntry
		if json.Unmarshal(line, &e) == nil && (e.Score != nil || e.Error != "") {
			log.known[place(e.At, e.Fold)] = e
		}
	}
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if text == nil {
		flags |= os.O_TRUNC
	}
	if log.file, err = os.OpenFile(s.file, flags, 0o644); err != nil {
		return nil, fmt.Errorf("svmnb: File: %w", err)
	}
	if len(text) == 0 {
		err = log.line(searchHeader{searchFormat, key, s.learner.String(), s.folds.String(), s.by.Name})
	} else if text[len(text)-1] != '\n' {
		_, err = log.file.Write([]byte("\n")) // ends the line that a kill has cut
	}
	if err != nil {
		log.close()
		return nil, fmt.Errorf("svmnb: File: %w", err)
	}
	return log, nil
}

func (l *searchLog) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(text, '\n'))
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
	if err := l.line(e); err != nil {
		return fmt.Errorf("svmnb: File: %w", err)
	}
	return nil
}

func (l *searchLog) close() {
	if l.file != nil {
		l.file.Close()
	}
}
