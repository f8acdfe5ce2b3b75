import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSemaphore } from '../../runtime/core/store/transactions/semaphore.ts';

it('a job whose signal is aborted while it waits is not run, and keeps no place from the others', async () => {
  const semaphore = createSemaphore(1);
  const ran: string[] = [];
  const abort = new AbortController();
  const first = semaphore.run(() => sleep(30).then(() => ran.push('first')));
  const second = semaphore.run(async () => ran.push('second'), abort.signal);
  const third = semaphore.run(async () => ran.push('third'));
  abort.abort(new Error('not wanted any more'));
  await expect(second).rejects.toThrow('not wanted any more');
  expect(semaphore.held).toBe(true);
  await Promise.all([first, third]);
  expect(ran).toEqual(['first', 'third']);
  expect(semaphore.held).toBe(false);
});

it('the signal ends the waiting of a job, not a job that runs', async () => {
  const semaphore = createSemaphore(1);
  const abort = new AbortController();
  const running = semaphore.run(() => sleep(20).then(() => 'done'), abort.signal);
  abort.abort();
  await expect(running).resolves.toBe('done');
});
