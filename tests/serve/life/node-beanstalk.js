// SPDX-License-Identifier: MIT
// A life cycle through node-beanstalk: node-beanstalk.js PORT
const { Client } = require('node-beanstalk');

async function main() {
    const client = new Client({ port: Number(process.argv[2]) });
    await client.connect();
    await client.use('life');
    await client.watch('life');
    await client.ignore('default');
    const put = await client.put({ text: 'body' }, 60, 5, 0);
    console.log('put', put.state);
    let job = await client.reserveWithTimeout(1);
    console.log('reserved', JSON.stringify(job.payload), job.id === put.id);
    console.log('touched', await client.touch(job.id), 'released', JSON.stringify(await client.release(job.id, 7, 0)));
    job = await client.reserve();
    console.log('buried', await client.bury(job.id, 3), (await client.statsJob(job.id)).pri);
    console.log('kicked', await client.kick(10), await client.kickJob(job.id));
    job = await client.reserveJob(job.id);
    console.log('deleted', await client.delete(job.id), await client.delete(job.id));
    console.log('timed out', await client.reserveWithTimeout(0), await client.listTubesWatched());
    console.log((await client.statsTube('life')).totalJobs);
    await client.disconnect();
}

main().catch((error) => { console.log(String(error)); process.exit(1); });
