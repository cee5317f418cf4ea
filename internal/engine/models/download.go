package models

// This file downloads an archive from an address of the user.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// ErrAddress: the address did not give the archive.
var ErrAddress = errors.New("the address did not give the archive")

// download writes what the address gives into the file, and returns the path of the file. If a part of the file is there already, it
// asks for the rest only. It fails when nothing arrives for maxStall.
func download(ctx context.Context, address, path string, size int64, progress func(int64)) (_ string, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxFetch)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stalled := time.AfterFunc(maxStall, func() { stop(fmt.Errorf("%w: nothing has arrived for %s", ErrStalled, maxStall)) })
	defer stalled.Stop()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	have, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	if have == size {
		return path, nil
	}
	body, from, err := request(ctx, address, have)
	if err != nil {
		return "", causeOr(ctx, err)
	}
	defer func() { _ = body.Close() }() // reading it has reported the error
	if err := errors.Join(file.Truncate(from), seek(file, from)); err != nil {
		return "", err
	}
	in := &counter{r: io.LimitReader(body, size-from+1), n: from, tell: progress, alive: func() { stalled.Reset(maxStall) }}
	if _, err := io.Copy(file, in); err != nil {
		return "", causeOr(ctx, fmt.Errorf("%w: %w", ErrAddress, err))
	}
	return path, nil
}

func seek(f *os.File, to int64) error {
	_, err := f.Seek(to, io.SeekStart)
	return err
}

// causeOr returns why the context is done, or err if it is not.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// request asks for the address from the position have on. It returns the position at which the body begins, which is 0 if the server
// cannot send parts.
func request(ctx context.Context, address string, have int64) (io.ReadCloser, int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	if have > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		return resp.Body, 0, nil
	case resp.StatusCode == http.StatusPartialContent:
		return resp.Body, have, nil
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0:
		_ = resp.Body.Close() // the next request begins anew
		return request(ctx, address, 0)
	}
	return nil, 0, errors.Join(fmt.Errorf("%w: %s answered %s", ErrAddress, req.URL.Redacted(), resp.Status), resp.Body.Close())
}
