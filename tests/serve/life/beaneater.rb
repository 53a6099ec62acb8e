# SPDX-License-Identifier: MIT
# A life cycle through Debian's ruby-beaneater: beaneater.rb PORT
require 'beaneater'

client = Beaneater.new("127.0.0.1:#{ARGV[0]}")
tube = client.tubes['life']
put = tube.put('body', pri: 5, ttr: 60)
client.tubes.watch!('life')
job = tube.reserve(1)
puts "reserved #{job.body} #{job.id == put[:id]}"
job.touch
job.release(pri: 7)
job = tube.reserve
job.bury
puts "#{job.stats.state} #{tube.kick(10).class}"
job = tube.reserve
job.delete
begin
  tube.reserve(0)
rescue Beaneater::TimedOutError => e
  puts e.class
end
puts tube.stats.total_jobs
client.close
