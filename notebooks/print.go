package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// browsers are programs that print a page without showing it, in order of preference. On
// macOS and Windows they are usually not on the path.
var browsers = map[string][]string{
	"linux":   {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser"},
	"darwin":  {"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"},
	"windows": {`C:\Program Files\Google\Chrome\Application\chrome.exe`, `C:\Program Files (x86)\Google\Chrome\Application\chrome.exe`, `C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`, `C:\Program Files\Microsoft\Edge\Application\msedge.exe`},
}

// errNoBrowser is the error of printPDF if no browser was found.
var errNoBrowser = errors.New("no browser that prints was found: install Chromium, Chrome or Edge, or open the page and print it to a file")

// printPDF prints a page by a browser that is installed. query is added to its address.
func printPDF(ctx context.Context, page, query, pdf string) error {
	program := ""
	for _, name := range browsers[runtime.GOOS] {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		return errNoBrowser
	}
	page, err := filepath.Abs(page)
	if err != nil {
		return err
	}
	if pdf, err = filepath.Abs(pdf); err != nil {
		return err
	}
	profile, err := os.MkdirTemp("", "svmnb-print-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(page)}).String() + query
	args := []string{"--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--user-data-dir=" + profile,
		"--no-pdf-header-footer", "--generate-pdf-document-outline", "--virtual-time-budget=20000", "--print-to-pdf=" + pdf, address}
	if os.Geteuid() == 0 { // the browser refuses its sandbox to root
		args = append([]string{"--no-sandbox"}, args...)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not print %s: %w\n%s", filepath.Base(program), page, err, out)
	}
	if _, err := os.Stat(pdf); err != nil {
		return fmt.Errorf("%s has printed nothing: %w", filepath.Base(program), err)
	}
	return nil
}
