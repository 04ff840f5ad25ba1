package beam

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/model"
)

func init() { kinds["predict"] = predictPiece }

// Predictions says what [Runner.Predict] has written.
type Predictions struct {
	N     int
	Files []string // CSV, one for each block, in the order of the blocks and of their points
	// Right is the number of points whose target is the predicted class, for a model of classes.
	Right int
	// RMSE is the root of the mean squared difference to the targets, for a model of real targets;
	// otherwise NaN.
	RMSE float64
}

// Accuracy returns Right/N.
func (p *Predictions) Accuracy() float64 { return float64(p.Right) / float64(p.N) }

// Predict writes the predictions of a model for all points of src into the folder out, which all
// workers must reach: a file part-00000.csv for block 0, and so on, with a line for each point.
// A file has the columns class and, for a model of one machine, value, which is f; for real
// targets it has the column value alone. The model may have several classes, probabilities and
// the steps of a pipeline; its predictions are those of model.Model.
func (r Runner) Predict(ctx context.Context, src Source, m *model.Model, out string) (*Predictions, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, arguments.NoFit("Predict")
	}
	if out == "" {
		return nil, arguments.Wrong("Predict", math.NaN(), "there is no folder for the predictions; give one that all workers reach")
	}
	r = r.filled()
	files, end, err := r.folder(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	s, err := r.survey(ctx, files, src)
	if err != nil {
		return nil, err
	}
	b, err := r.over(ctx, files, src, nil, "")
	if err != nil {
		return nil, err
	}
	text, err := modelText(m)
	if err != nil {
		return nil, err
	}
	file := "model-" + hash(text)
	if err := files.write(ctx, file, text); err != nil {
		return nil, fmt.Errorf("svmnb: Dir: %w", err)
	}
	target, err := openStore(ctx, out)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Predict: %w", err)
	}
	all := &Predictions{RMSE: math.NaN()}
	squares := make([]float64, len(s.sizes))
	p := pass{what: "predictions", kind: "predict", key: out, spec: b, mem: b}
	p.each = func(i int, text []byte) error {
		var one predicted
		if err := json.Unmarshal(text, &one); err != nil {
			return fmt.Errorf("svmnb: Beam: the result of block %d is damaged: %w", i, err)
		}
		all.N, all.Right, squares[i] = all.N+one.N, all.Right+one.Right, one.Squares
		return nil
	}
	for i := range s.sizes {
		a := predictArg{i, s.digests[i], file, out, fmt.Sprintf("part-%05d.csv", i)}
		if _, err := target.fs.Size(ctx, target.path(a.File)); err != nil {
			// The file was removed, so what an earlier run says about it does not count.
			gone := pass{kind: p.kind, key: p.key, args: []any{a}}
			r.forget(ctx, files, gone)
		}
		p.args, p.says = append(p.args, a), append(p.says, fmt.Sprintf("block %d", i))
		all.Files = append(all.Files, target.path(a.File))
	}
	if err := r.run(ctx, files, p); err != nil {
		return nil, err
	}
	if m.Classes() == nil {
		sum := 0.0
		for _, v := range squares {
			sum += v
		}
		all.RMSE = math.Sqrt(sum / float64(all.N))
	}
	return all, nil
}

// modelText returns the file of a model.
func modelText(m *model.Model) ([]byte, error) {
	dir, err := os.MkdirTemp("", "svmnb-beam-model-")
	if err != nil {
		return nil, fmt.Errorf("svmnb: Predict: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model")
	if err := model.Save(path, m); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

type predictArg struct {
	Block  int    `json:"block"`
	Digest string `json:"digest"`
	Model  string `json:"model"`
	Out    string `json:"out"`
	File   string `json:"file"`
}

type predicted struct {
	N, Right int
	Squares  float64
}

// lastModel is the model that this process has read last.
var lastModel struct {
	sync.Mutex
	at string
	of *model.Model
}

func readModel(ctx context.Context, s store, name string) (*model.Model, error) {
	lastModel.Lock()
	defer lastModel.Unlock()
	if lastModel.at == s.path(name) {
		return lastModel.of, nil
	}
	text, err := s.read(ctx, name)
	if err != nil {
		return nil, err
	}
	m, err := model.Read(bytes.NewReader(text))
	if err == nil {
		lastModel.at, lastModel.of = s.path(name), m
	}
	return m, err
}

func predictPiece(ctx context.Context, s store, t *task, local any, arg json.RawMessage) ([]byte, error) {
	b, err := ready(ctx, s, t, local)
	if err != nil {
		return nil, err
	}
	var a predictArg
	if err := json.Unmarshal(arg, &a); err != nil {
		return nil, err
	}
	m, err := readModel(ctx, s, a.Model)
	if err != nil {
		return nil, err
	}
	d, err := b.block(ctx, a.Block, a.Digest)
	if err != nil {
		return nil, err
	}
	out, err := openStore(ctx, a.Out)
	if err != nil {
		return nil, err
	}
	p := predicted{N: d.N()}
	text, err := p.table(m, d)
	if err != nil {
		return nil, err
	}
	if err := out.write(ctx, a.File, text); err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

// table returns the predictions of a block as CSV, and counts them.
func (p *predicted) table(m *model.Model, d *datasets.Dataset) ([]byte, error) {
	var names []string
	var values []float64
	single := len(m.Inside().Terms) == 1
	if d.N() > 0 {
		var err error
		if m.Classes() != nil {
			if names, err = m.Predict(d); err != nil {
				return nil, err
			}
		}
		if single {
			if values, err = m.Values(d); err != nil {
				return nil, err
			}
		}
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	var head []string
	if m.Classes() != nil {
		head = append(head, "class")
	}
	if single {
		head = append(head, "value")
	}
	_ = w.Write(head) // a buffer takes everything
	for i, y := range d.Y {
		var line []string
		if names != nil {
			line = append(line, names[i])
			if names[i] == d.ClassName(y) {
				p.Right++
			}
		}
		if values != nil {
			line = append(line, strconv.FormatFloat(values[i], 'g', -1, 64))
			if names == nil {
				p.Squares += (values[i] - y) * (values[i] - y)
			}
		}
		_ = w.Write(line)
	}
	w.Flush()
	return text.Bytes(), w.Error()
}
