# SPDX-License-Identifier: MIT
# What ./dev demo serve shows, through a client that was written for beanstalkd: demo.rb HTW [SECONDS]. Fails if a job
# that was acknowledged is lost, or one that was deleted comes back.
require 'set'
require 'timeout'
require 'tmpdir'

begin
  require 'beaneater'
rescue LoadError
  puts 'not installed: ruby-beaneater'
  exit 77
end

HTW = File.expand_path(ARGV[0])
SECONDS = Float(ARGV[1] || 4)
CLIENTS = 4
# What a kill is to a client: in the middle of a command, of an answer, or while it connects.
LOST = [Beaneater::NotConnected, Beaneater::ExpectedCrlfError, SystemCallError, IOError].freeze

# The server on its file; a kill and a new start are the same to its clients.
class Server
  def initialize(file)
    @file = file
    @port = 0
    start
  end

  def start
    puts "$ htw serve --listen #{@port} jobs"
    @output, output = IO.pipe
    @pid = spawn(HTW, 'serve', '--listen', @port.to_s, @file, out: output)
    output.close
    ready = @output.gets or abort 'demo: htw serve does not start'
    puts ready
    @port = Integer(ready[/^ready: 127\.0\.0\.1:(\d+)$/, 1])
  end

  def stop(signal)
    return unless @pid
    pid, @pid = @pid, nil # an error in here must not kill it twice
    puts signal == 15 ? "$ kill #{pid}" : "$ kill -#{signal} #{pid}"
    Process.kill(signal, pid)
    Process.wait(pid)
    $?
  end

  # A client connects again by itself, but not for more than two seconds.
  def tubes
    Beaneater.new("127.0.0.1:#{@port}").tubes
  rescue *LOST
    sleep 0.1
    retry
  end
end

# What became of the jobs, by id.
class Record
  attr_reader :put, :deleted, :unanswered, :back

  def initialize
    @mutex = Mutex.new
    @put, @deleted, @unanswered, @back = Array.new(4) { Set.new }
  end

  def add(set, job)
    @mutex.synchronize { set << job }
  end

  def reserved(job)
    @mutex.synchronize { @back << job if @deleted.include?(job) }
  end

  # Jobs whose delete has worked without its answer.
  def gone
    @unanswered - @deleted
  end

  def lost
    @put - @deleted - gone
  end

  # Jobs whose put has worked without its answer.
  def more
    (@deleted | gone) - @put
  end
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def later(server)
  begun = now
  tell = ->(what) { puts format('  %5.2f s  %s', now - begun, what) }
  worker = Thread.new do
    tubes = server.tubes
    2.times do
      job = tubes.reserve
      tell.call("the worker has '#{job.body}', and deletes it")
      job.delete
    end
  end
  tube = server.tubes['default']
  tell.call("a client puts 'reminder', to be delayed by 2 s, and 'mail'")
  tube.put('reminder', delay: 2)
  tube.put('mail')
  worker.join
end

def produce(server, record, until_)
  tube = server.tubes['default']
  record.add(record.put, tube.put('x' * 100, delay: rand(2))[:id]) while now < until_
rescue *LOST
  retry
end

# After the kill the client sends its delete again. If the first one has worked, there is no such job: or another worker
# has it.
def delete(record, job)
  job.delete
  record.add(record.deleted, job.id)
rescue Beaneater::NotFoundError, *LOST
  record.add(record.unanswered, job.id)
end

def is_empty(tube)
  stats = tube.stats
  stats.current_jobs_ready + stats.current_jobs_delayed + stats.current_jobs_reserved == 0
end

# nil: none has come for a second.
def reserve(tubes)
  tubes.reserve(1)
rescue Beaneater::TimedOutError
  nil
end

# Until the producers have ended and no job is left.
def work(server, record, producers)
  tubes = server.tubes
  loop do
    job = reserve(tubes)
    if job
      record.reserved(job.id)
      delete(record, job)
    elsif producers.none?(&:alive?) && is_empty(tubes['default'])
      break
    end
  rescue *LOST
    tubes = server.tubes
  end
end

def load(server)
  record = Record.new
  half, whole = now + SECONDS / 2, now + SECONDS
  producers = Array.new(CLIENTS) { Thread.new { produce(server, record, whole) } }
  workers = Array.new(CLIENTS) { Thread.new { work(server, record, producers) } }
  sleep(half - now)
  puts "  #{record.put.size} jobs are put, #{record.deleted.size} deleted. Now:"
  puts
  server.stop(9)
  server.start
  puts
  (producers + workers).each(&:join)
  record
end

def judge(record)
  puts "  #{record.put.size} jobs were put and acknowledged (INSERTED); #{record.lost.size} of them are lost"
  puts "  #{record.deleted.size} jobs were deleted and acknowledged (DELETED); #{record.back.size} of them came back"
  puts "  put, but the kill took the answer: #{record.more.size}; deleted, but it took the answer: #{record.gone.size}"
  record.lost.empty? && record.back.empty?
end

def show(server)
  puts
  puts "The client is beaneater #{Beaneater::VERSION}, written in Ruby for beanstalkd. A worker waits:"
  puts
  later(server)
  puts
  puts "Now #{CLIENTS} clients put jobs, half of them with a delay of 1 s, and #{CLIENTS} workers delete them."
  record = load(server)
  puts 'The clients have connected again, and gone on until no job was left:'
  puts
  is_well = judge(record)
  puts
  server.stop(15).success? && is_well
end

$stdout.sync = true
Thread.report_on_exception = false # join raises it
%w[HUP INT TERM].each { |signal| trap(signal) { exit 1 } }
Timeout.timeout(60) do
  Dir.mktmpdir('htw-demo-') do |folder|
    server = Server.new(File.join(folder, 'jobs'))
    exit(show(server) ? 0 : 1)
  ensure
    server&.stop(9)
  end
end
