# SPDX-License-Identifier: MIT
# For demo.rb: each second connection is reset while it is made, as by a server that is killed meanwhile. ruby -r resets.rb demo.rb ...
require 'socket'

module Resets
  @count = 0

  def self.due?
    (@count += 1).even?
  end

  def new(*)
    raise Errno::ECONNRESET if Resets.due?
    super
  end
end

TCPSocket.singleton_class.prepend(Resets)
