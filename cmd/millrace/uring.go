//go:build uring

package main

import "millrace/netpoll/uring"

func init() { drivers = append(drivers, uring.Factory()) }
