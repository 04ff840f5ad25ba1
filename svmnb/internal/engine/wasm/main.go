//go:build js

// Command wasm is the engine of living figures in a page. It is compiled to WebAssembly and
// runs in a worker:
//
//	GOOS=js GOARCH=wasm go build -ldflags="-s -w" ./svmnb/internal/engine/wasm
//
// (Pages have it built with engine.BuildFlags.)
//
// It defines svmnbAsk(kernel, method, numbers), where numbers is a Uint8Array with the bytes
// of a Float64Array. It returns a Uint8Array, or a string that says what is wrong.
package main

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/svmnb/svmnb/svmnb/internal/engine"
)

func main() {
	var m engine.Machine
	js.Global().Set("svmnbAsk", js.FuncOf(func(_ js.Value, a []js.Value) (answer any) {
		defer func() {
			if r := recover(); r != nil {
				m = engine.Machine{}
				answer = fmt.Sprint(r)
			}
		}()
		b := make([]byte, a[2].Get("byteLength").Int())
		js.CopyBytesToGo(b, a[2])
		v, err := m.Ask(context.Background(), a[0].String(), a[1].String(), engine.FromBytes(b))
		if err != nil {
			return err.Error()
		}
		b = engine.Bytes(v)
		out := js.Global().Get("Uint8Array").New(len(b))
		js.CopyBytesToJS(out, b)
		return out
	}))
	js.Global().Call("svmnbReady")
	select {}
}
