import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Core } from '../../runtime/hosting/host/core.ts';
import { createEventHub } from '../../runtime/hosting/host/events.ts';
import type { Observation } from '../../runtime/hosting/notifications/conditions.ts';
import type { Notifications } from '../../runtime/hosting/notifications/notifications.ts';
import { watchCore } from '../../runtime/hosting/notifications/watch.ts';
import type { HostedApp } from '../../runtime/hosting/records/app.ts';

const shop = {
  ...{ id: '1', name: 'shop', status: 'running', error: null },
  ...{ env: { MODE: 'debug-mode' }, secrets: { KEY: 'hunter2-hunter2' } },
} as unknown as HostedApp;

function watch({ root = '' } = {}) {
  const seen: Observation[] = [];
  const gone: string[] = [];
  let change: (app: HostedApp) => void = () => {};
  const events = createEventHub(Date.now);
  const apps = { all: () => [shop], onChange: (listener: typeof change) => (change = listener) };
  const notifications = {
    observe: (each: Observation) => seen.push(each),
    forget: (app: string) => gone.push(app),
  };
  const core = {
    ...{ apps, events, model: { diskFloor: 0 }, log: console },
    connection: { info: () => ({ kind: 'docker', version: '1', root }) },
  };
  const loop = watchCore(core as unknown as Core, notifications as unknown as Notifications);
  return { loop, seen, gone, events, change: (app: HostedApp) => change(app) };
}

it('an event that says how something ended is an observation of its subject', () => {
  const { seen, gone, events } = watch();
  const app = 'shop';
  events.emit('run', {
    app,
    cron: 'nightly',
    status: 'failed',
    reason: 'It ended with exit code 1',
  });
  events.emit('run', { app, cron: 'nightly', status: 'timeout' });
  events.emit('run', { app, cron: 'nightly', status: 'done' });
  events.emit('backup', { app, backup: '7', status: 'running' });
  events.emit('backup', { app, backup: '7', status: 'failed', error: 'no room' });
  events.emit('backup', { app, backup: '8', status: 'done' });
  events.emit('certificate', { app: null, host: 'panel.test', status: 'failed', error: 'refused' });
  events.emit('certificate', { app, host: 'shop.test', status: 'issued' });
  events.emit('deployment', { app, number: 2, status: 'building' });
  events.emit('deployment', { app, number: 2, status: 'cancelled' });
  events.emit('deployment', { app, number: 3, status: 'failed', reason: 'no' });
  events.emit('run', { app, cron: null, status: 'failed' });
  events.emit('removed', { app: 'old' });
  expect(seen.map(({ topic, subject, failing }) => [topic, subject, failing])).toEqual([
    ['run', 'shop nightly', true],
    ['run', 'shop nightly', true],
    ['run', 'shop nightly', false],
    ['backup', 'shop', true],
    ['backup', 'shop', false],
    ['certificate', 'panel.test', true],
    ['certificate', 'shop.test', false],
    ['deploy', 'shop', true],
  ]);
  expect(seen.map(({ text }) => text).slice(0, 2)).toEqual([
    'It ended with exit code 1',
    'No reason is known.',
  ]);
  expect(gone).toEqual(['old']);
});

it('a small disk that is full is low, and has room again when a file is gone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder]);
  const { seen, loop } = watch({ root: folder });
  const disk = () =>
    seen.filter(({ topic }) => topic === 'disk').map(({ failing, text }) => [failing, text]);
  try {
    writeFileSync(join(folder, 'large'), Buffer.alloc(3.9 * 2 ** 20));
    loop.start();
    const full = [true, expect.stringMatching(/^0\.0 of 0\.0 GiB are free/)];
    await expect.poll(disk, { timeout: 20_000 }).toEqual([full]);
    rmSync(join(folder, 'large'));
    await expect.poll(() => disk().at(-1)?.[0], { timeout: 20_000 }).toBe(false);
  } finally {
    await loop.stop();
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  }
});

it('an app that crashes is told without its output and without values of its environment', () => {
  const { seen, change } = watch();
  change(shop);
  change({ ...shop, restarts: 1 });
  const error = 'It said debug-mode and hunter2-hunter2. Last line: the key is hunter2-hunter2';
  change({ ...shop, status: 'crashed', error });
  change({ ...shop, status: 'stopped' });
  change(shop);
  expect(seen.map(({ failing, text }) => [failing, text])).toEqual([
    [false, 'The app shop answers again.'],
    [true, 'It said ******** and ********'],
    [false, 'The app shop answers again.'],
  ]);
});
