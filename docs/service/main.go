// Command service answers predictions of a saved model over HTTP.
//
//	go run ./docs/service -model churn.model
//	curl -d '{"age": 34, "city": "Bern"}' localhost:8080/predict
//	{"class":"no","probabilities":{"no":0.93,"yes":0.07}}
//
// A value that is not in the record is missing, and entries that are no columns are
// ignored. An array of records gets an array of answers. GET / lists the columns.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/svmnb/svmnb/svmnb/model"
)

func main() {
	path := flag.String("model", "", "file of model.Save")
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	flag.Parse()
	m, err := model.Load(*path)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := newService(m)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: *listen, Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(ending)
	}()
	log.Printf("%v\nlistening on http://%s", m, *listen)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

// mostBytes bounds a request.
const mostBytes = 10 << 20

// service answers requests from as many goroutines as there are. Each of them borrows a row.
type service struct {
	m        *model.Model
	probable bool // whether the model has probabilities
	rows     sync.Pool
}

func newService(m *model.Model) (http.Handler, error) {
	row, err := m.NewRow()
	if err != nil {
		return nil, err
	}
	s := &service{m: m, probable: m.HasProbabilities()}
	s.rows.New = func() any {
		row, _ := m.NewRow() // it was possible before
		return row
	}
	s.rows.Put(row)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /predict", s.predict)
	mux.HandleFunc("GET /{$}", s.describe)
	return mux, nil
}

// answer is what a record gets.
type answer struct {
	Class         string             `json:"class,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Value         *float64           `json:"value,omitempty"`
	Error         string             `json:"error,omitempty"`
}

func (s *service) predict(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBytes)).Decode(&body); err != nil {
		reply(w, http.StatusBadRequest, answer{Error: err.Error()})
		return
	}
	if body[0] != '[' {
		var record map[string]any
		if err := json.Unmarshal(body, &record); err != nil {
			reply(w, http.StatusBadRequest, answer{Error: err.Error()})
			return
		}
		a := s.one(record)
		if a.Error != "" {
			reply(w, http.StatusUnprocessableEntity, a)
			return
		}
		reply(w, http.StatusOK, a)
		return
	}
	var records []map[string]any
	if err := json.Unmarshal(body, &records); err != nil {
		reply(w, http.StatusBadRequest, answer{Error: err.Error()})
		return
	}
	answers := make([]answer, len(records))
	for i, record := range records {
		answers[i] = s.one(record)
	}
	reply(w, http.StatusOK, answers)
}

func (s *service) one(record map[string]any) answer {
	row := s.rows.Get().(*model.Row)
	defer s.rows.Put(row)
	row.Set(record)
	var a answer
	var err error
	if s.m.Classes() == nil {
		var v float64
		if v, err = row.Value(); err == nil {
			a.Value = &v
		}
	} else if a.Class, err = row.Class(); err == nil && s.probable {
		var p []float64
		if p, err = row.Probabilities(); err == nil {
			a.Probabilities = map[string]float64{}
			for k, class := range s.m.Classes() {
				a.Probabilities[class] = p[k]
			}
		}
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return a
}

func (s *service) describe(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, s.m)
	for _, c := range s.m.Columns() {
		fmt.Fprintf(w, "%s: %v\n", c.Name, c.Kind)
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
