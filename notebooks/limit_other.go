//go:build !linux

package main

import "errors"

func (c *client) limitMemory(uint64) error { return errors.ErrUnsupported }
