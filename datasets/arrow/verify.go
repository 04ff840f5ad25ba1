package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The Arrow library allocates as many fields, nodes and buffers as the FlatBuffers of a file
// claim to have. A false number could exhaust the memory and end the program. This file
// therefore checks the numbers first: each table and vector has to lie within its buffer, and
// there cannot be more tables than bytes. The allocator limits all other memory, and the
// library reports other faults.

// These are the tables of Arrow's Schema.fbs, Message.fbs and File.fbs, with the numbers of
// their fields.
var (
	keyValue  = layout{}
	unionType = layout{vectors: map[int]int{1: 4}}
	field     = layout{vectors: map[int]int{}, lists: map[int]*layout{6: &keyValue}}
	schema    = layout{lists: map[int]*layout{1: &field, 2: &keyValue}, vectors: map[int]int{3: 8}}
	batch     = layout{vectors: map[int]int{1: 16, 2: 16, 4: 8}}
	dictBatch = layout{tables: map[int]*layout{1: &batch}}
	footer    = layout{tables: map[int]*layout{1: &schema}, vectors: map[int]int{2: 24, 3: 24}, lists: map[int]*layout{4: &keyValue}}
	message   = layout{lists: map[int]*layout{4: &keyValue}}
)

func init() { field.lists[5] = &field } // set here, because field refers to itself: entry 5 of a Field is the list of its children

// layout says which fields of a table lead to a table, to a vector of tables, or to a vector
// whose elements have the given number of bytes.
type layout struct {
	tables, lists map[int]*layout
	vectors       map[int]int
}

var errVector = errors.New("a table of its metadata lies outside of them")

// flat is a FlatBuffer. Reading beyond its end panics, which Read turns into an error.
type flat struct {
	b    []byte
	left int // number of tables that may still follow
}

func newFlat(b []byte) *flat { return &flat{b, len(b)} }

func (f *flat) u32(at int) int { return int(binary.LittleEndian.Uint32(f.b[at:])) }
func (f *flat) u16(at int) int { return int(binary.LittleEndian.Uint16(f.b[at:])) }

// field returns the position of field k of the table at position at, or 0 if it is absent.
func (f *flat) field(at, k int) int {
	v := at - int(int32(f.u32(at)))
	if v < 0 || 4+2*k >= f.u16(v) {
		return 0
	}
	if o := f.u16(v + 4 + 2*k); o != 0 {
		return at + o
	}
	return 0
}

// vector returns the position of the first element of a vector, and the number of elements.
func (f *flat) vector(at, size int) (from, n int) {
	at += f.u32(at)
	from, n = at+4, f.u32(at)
	if n > (len(f.b)-from)/size {
		panic(errVector)
	}
	return from, n
}

func (f *flat) table(at int, l *layout) {
	if f.left--; f.left < 0 {
		panic(errVector)
	}
	for k, size := range l.vectors {
		if p := f.field(at, k); p != 0 {
			f.vector(p, size)
		}
	}
	for k, of := range l.tables {
		if p := f.field(at, k); p != 0 {
			f.table(p+f.u32(p), of)
		}
	}
	for k, of := range l.lists {
		if p := f.field(at, k); p != 0 {
			from, n := f.vector(p, 4)
			for i := range n {
				f.table(from+4*i+f.u32(from+4*i), of)
			}
		}
	}
	if l == &field { // for the type ids of a union
		if kind, p := f.field(at, 2), f.field(at, 3); kind != 0 && p != 0 && f.b[kind] == 14 {
			f.table(p+f.u32(p), &unionType)
		}
	}
}

// header checks a message and returns the length of its body in bytes and its number of rows.
func (f *flat) header() (body, rows int64) {
	root := f.u32(0)
	f.table(root, &message)
	if kind, p := f.field(root, 1), f.field(root, 2); kind != 0 && p != 0 {
		switch p += f.u32(p); f.b[kind] {
		case 1:
			f.table(p, &schema)
		case 2:
			f.table(p, &dictBatch)
		case 3:
			f.table(p, &batch)
			if n := f.field(p, 0); n != 0 {
				rows = int64(binary.LittleEndian.Uint64(f.b[n:]))
			}
		}
	}
	if p := f.field(root, 3); p != 0 {
		body = int64(binary.LittleEndian.Uint64(f.b[p:]))
	}
	return body, rows
}

// messageAt checks the message at position at. It returns the position of the next one and the
// number of rows, or io.EOF at the end of a stream.
func messageAt(r *io.SectionReader, at int64) (next, rows int64, err error) {
	var word [8]byte
	n, _ := r.ReadAt(word[:], at)
	size := int64(int32(binary.LittleEndian.Uint32(word[:])))
	at += 4
	if size == -1 { // the format since Arrow 0.15
		size = int64(int32(binary.LittleEndian.Uint32(word[4:])))
		at += 4
	}
	switch {
	case n < 4 || size == 0:
		return 0, 0, io.EOF
	case size < 8 || size > r.Size()-at:
		return 0, 0, fmt.Errorf("a message of %d bytes does not fit", size)
	}
	b := make([]byte, size)
	if _, err := r.ReadAt(b, at); err != nil {
		return 0, 0, err
	}
	at += size
	body, rows := newFlat(b).header()
	switch {
	case body < 0 || body > r.Size()-at:
		return 0, 0, fmt.Errorf("a body of %d bytes does not fit", body)
	case rows < 0:
		return 0, 0, fmt.Errorf("a batch of %d rows does not exist", rows)
	}
	return at + body, rows, nil
}

// verifyStream checks all messages of a stream and returns their total number of rows.
func verifyStream(r *io.SectionReader) (rows int64, err error) {
	for at := int64(0); ; {
		next, n, err := messageAt(r, at)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return 0, err
		}
		at, rows = next, plus(rows, n)
	}
}

// plus adds two numbers ≥ 0. A sum above the largest int64 becomes the largest int64.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// verifyFile checks the footer of a file and the messages that it points to, and returns their
// total number of rows.
func verifyFile(r *io.SectionReader) (rows int64, err error) {
	var end [10]byte
	if _, err := r.ReadAt(end[:], r.Size()-10); err != nil || r.Size() < 18 {
		return 0, errors.New("the file is too short")
	}
	size := int64(binary.LittleEndian.Uint32(end[:]))
	if size < 8 || size > r.Size()-18 || string(end[4:]) != "ARROW1" {
		return 0, errors.New("it has no footer: the file was cut short")
	}
	b := make([]byte, size)
	if _, err := r.ReadAt(b, r.Size()-10-size); err != nil {
		return 0, err
	}
	f := newFlat(b)
	root := f.u32(0)
	f.table(root, &footer)
	for _, k := range []int{2, 3} {
		p := f.field(root, k)
		if p == 0 {
			continue
		}
		from, n := f.vector(p, 24)
		for i := range n {
			block := b[from+24*i:]
			at, meta, body := int64(binary.LittleEndian.Uint64(block)), int64(int32(binary.LittleEndian.Uint32(block[8:]))), int64(binary.LittleEndian.Uint64(block[16:]))
			if at < 0 || meta < 8 || body < 0 || at > r.Size() || meta > r.Size()-at || body > r.Size()-at-meta {
				return 0, fmt.Errorf("block %d lies outside of the file", i)
			}
			_, n, err := messageAt(io.NewSectionReader(r, at, meta+body), 0)
			if err != nil {
				return 0, err
			}
			rows = plus(rows, n)
		}
	}
	return rows, nil
}
