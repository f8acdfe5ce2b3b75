import { Worker } from 'node:worker_threads';

const SPIN = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', (milliseconds) => {
  const end = performance.now() + milliseconds;
  let rounds = 0;
  for (let value = 1; performance.now() < end; rounds += 1) for (let step = 0; step < 10_000; step += 1) value = (value * 31 + step) | 0;
  parentPort.postMessage(rounds);
});`;

/** How often one thread's arithmetic `threads` of them do in the same time: what the machine has to give at this moment. */
export async function parallelism(threads: number, milliseconds = 300): Promise<number> {
  const workers = Array.from({ length: threads }, () => new Worker(SPIN, { eval: true }));
  const spin = (some: readonly Worker[]) => Promise.all(some.map((worker) => roundsOf(worker, milliseconds)));
  try {
    await spin(workers);
    const [one = NaN] = await spin(workers.slice(0, 1));
    const all = await spin(workers);
    return all.reduce((sum, rounds) => sum + rounds, 0) / one;
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function roundsOf(worker: Worker, milliseconds: number): Promise<number> {
  return new Promise((resolve) => {
    worker.once('message', resolve);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is of windows
    worker.postMessage(milliseconds);
  });
}
