<?php
// SPDX-License-Identifier: MIT
// A life cycle through Debian's php-pda-pheanstalk: pheanstalk.php PORT
require 'Pheanstalk/autoload.php';

$client = Pheanstalk\Pheanstalk::create('127.0.0.1', (int) $argv[1]);
$put = $client->useTube('life')->put('body', 5, 0, 60);
$client->watchOnly('life');
$job = $client->reserveWithTimeout(1);
echo 'reserved ', $job->getData(), ' ', $job->getId() == $put->getId() ? 'it' : 'another', "\n";
$client->touch($job);
$client->release($job, 7, 0);
$job = $client->reserve();
$client->bury($job, 3);
$stats = $client->statsJob($job);
echo $stats['state'], ' ', $stats['pri'], ' ', $client->kick(10), "\n";
$job = $client->reserve();
$client->delete($job);
echo $client->reserveWithTimeout(0) === null ? 'none' : 'one', ' ', implode(',', $client->listTubesWatched()), "\n";
