// SPDX-License-Identifier: MIT
// A life cycle through jackd: jackd.js PORT
const jackd = require('jackd');
const Client = jackd.default || jackd.JackdClient || jackd;

async function main() {
    const client = new Client();
    await client.connect({ host: '127.0.0.1', port: Number(process.argv[2]) });
    console.log('use', await client.use('life'), 'watch', await client.watch('life'), 'ignore', await client.ignore('default'));
    const id = await client.put('body', { priority: 5, ttr: 60 });
    const job = await client.reserve();
    console.log('reserved', String(job.payload), String(job.id) === String(id));
    await client.release(job.id);
    const again = await client.reserveWithTimeout(1);
    await client.touch(again.id);
    await client.bury(again.id);
    console.log('kicked', await client.kick(10));
    const last = await client.reserve();
    await client.delete(last.id);
    for (const act of [() => client.reserveWithTimeout(0), () => client.delete(id)])
        console.log(await act().catch((error) => error.message));
    await client.disconnect();
}

main().catch((error) => { console.log(String(error)); process.exit(1); });
