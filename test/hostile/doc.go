// Package hostile abuses the broker and watches that nobody else notices: foreign protocols, impossible lengths, every request cut at every
// byte or with counts of 2^31-1, thousands of silent or trickling connections, readers that do not read, and floods of pipelined requests.
//
// Every test runs beside a canary, an innocent client whose rounds must stay quick, and checks memory and sockets of the broker
// process where its id is known (always, unless MILLRACE_TEST_ADDR names a foreign broker without MILLRACE_TEST_PID).
// MILLRACE_TEST_RSS_SLACK_MB is how much the broker's memory may grow (default 256). MILLRACE_CONNS sets how many connections are held
// (default 5,000, less where the limit of open files is low).
//
// Files: watch_test.go (memory, sockets), frames_test.go (foreign protocols and lengths), requests_test.go with populate_test.go (every
// API and version cut and inflated), connections_test.go, slowreader_test.go, pipeline_test.go, bombs_test.go.
package hostile
