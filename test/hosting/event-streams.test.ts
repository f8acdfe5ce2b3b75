import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eventStream } from '../../runtime/hosting/flows/event-stream.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

async function* silence(): AsyncGenerator<never> {
  yield await new Promise<never>(() => {});
}

it('a stream of events has a comment every 15 seconds, until the client is gone', () => {
  const written: string[] = [];
  const abort = new AbortController();
  const res = {
    writableEnded: false,
    headersSent: true,
    write: (text: string) => written.push(text),
  };
  const { headers } = eventStream({ context: abort, koa: { res } } as never, silence());
  expect(headers).toMatchObject({ 'Content-Type': 'text/event-stream; charset=utf-8' });
  vi.advanceTimersByTime(14_999);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(written).toEqual([':\n\n']);
  vi.advanceTimersByTime(30_000);
  expect(written).toEqual([':\n\n', ':\n\n', ':\n\n']);
  abort.abort();
  vi.advanceTimersByTime(60_000);
  expect(written).toHaveLength(3);
});
