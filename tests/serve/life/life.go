// SPDX-License-Identifier: MIT
// A life cycle through go-beanstalk: life.go PORT
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/beanstalkd/go-beanstalk"
)

func main() {
	conn, err := beanstalk.Dial("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	tube := beanstalk.NewTube(conn, "life")
	set := beanstalk.NewTubeSet(conn, "life")
	put, err := tube.Put([]byte("body"), 5, 0, time.Minute)
	id, body, err := set.Reserve(time.Second)
	fmt.Println("reserved", string(body), id == put, err)
	fmt.Println("touched", conn.Touch(id), "released", conn.Release(id, 7, 0))
	id, _, err = set.Reserve(time.Second)
	fmt.Println("buried", conn.Bury(id, 3), err)
	stats, err := conn.StatsJob(id)
	fmt.Println(stats["state"], stats["pri"], stats["buries"], err)
	count, err := tube.Kick(10)
	fmt.Println("kicked", count, err)
	fmt.Println("paused", tube.Pause(time.Second))
	id, body, err = set.Reserve(10 * time.Second)
	fmt.Println("after the pause", string(body), err)
	fmt.Println("deleted", conn.Delete(id))
	_, _, err = set.Reserve(0)
	fmt.Println(err)
	_, _, err = tube.PeekDelayed()
	fmt.Println(err)
	names, err := conn.ListTubes()
	fmt.Println(len(names), err)
}
