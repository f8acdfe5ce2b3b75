import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { batchByTick } from '../../runtime/core/http/incoming.ts';

const request = (url: string) => ({ url }) as IncomingMessage;
const response = {} as ServerResponse;

describe('the requests of one tick', () => {
  it('are handled when all have arrived, in their order; what they wait for is done before the tick ends', async () => {
    const seen: string[] = [];
    const listener = batchByTick(
      ({ url }) => {
        seen.push(`handle ${url}`);
        void Promise.resolve().then(() => seen.push(`after ${url}`));
      },
      () => {
        seen.push('begin');
        setImmediate(() => seen.push('end'));
      },
    );
    for (const url of ['one', 'two']) {
      listener(request(url), response);
      seen.push(`arrived ${url}`);
    }
    await nextTick();
    listener(request('three'), response);
    await nextTick();
    expect(seen).toEqual([
      'begin',
      'arrived one',
      'arrived two',
      'handle one',
      'handle two',
      'after one',
      'after two',
      'end',
      'begin',
      'handle three',
      'after three',
      'end',
    ]);
  });

  it('keep the AsyncLocalStorage of the place where they arrived', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const listener = batchByTick(() => {
      seen.push(storage.getStore());
      storage.enterWith('left behind');
    });
    for (const name of ['one', 'two']) storage.run(name, () => listener(request(name), response));
    await nextTick();
    expect(seen).toEqual(['one', 'two']);
  });

  it('are handled though one before them throws', async () => {
    const seen: (string | undefined)[] = [];
    const thrown: unknown[] = [];
    const error = new RangeError('the second');
    const listener = batchByTick(({ url }) => {
      if (url === 'two') throw error;
      seen.push(url);
    });
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (caught) => thrown.push(caught));
    for (const url of ['one', 'two', 'three']) listener(request(url), response);
    await nextTick();
    for (const other of others) process.on('uncaughtException', other);
    expect(seen).toEqual(['one', 'three']);
    expect(thrown).toEqual([error]);
  });
});
