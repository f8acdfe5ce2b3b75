import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { describe, expect, it } from 'vitest';
import { sendText } from '../../runtime/core/http/sending.ts';
import { LargeRows } from '../../runtime/core/store/postgres/large-rows.ts';
import { joinTexts, LARGE_BYTES, LargeText } from '../../runtime/core/store/large-text.ts';
import { databases } from './databases.ts';

const LIMITS = { time: 10_000, result: 50_000_000, memory: 100_000_000 };
const BOUNDS = { asker: { cancelled: false }, sent: false, limits: LIMITS, large: true };

function message(kind: string, body: Buffer): Buffer {
  const header = Buffer.alloc(5, kind, 'latin1');
  header.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([header, body]);
}

function row(...columns: readonly string[]): Buffer {
  const parts = columns.map((text) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  });
  return message('D', Buffer.concat([Buffer.from([0, columns.length]), ...parts]));
}

describe('large rows of PostgreSQL', () => {
  it('are handed out wherever the socket cuts them, and the driver gets the rest in order', () => {
    const value = 'é'.repeat(LARGE_BYTES);
    const small = [message('2', Buffer.alloc(0)), row('small', 'row')];
    const last = [message('C', Buffer.from('SELECT 1\0')), message('Z', Buffer.from('I'))];
    const sent = Buffer.concat([...small, row(value, 'second column'), ...last, row('x'), ...last]);
    for (const step of [1, 2, 3, 5, 7, 11, 4096, 65_536, sent.length]) {
      const passed: Buffer[] = [];
      const taken: string[] = [];
      const rows = new LargeRows((bytes) => passed.push(Buffer.from(bytes)));
      rows.take = (text) => taken.push(String(text));
      // One byte at a time only near the edges of the row, where a cut could hurt.
      const cuts = [0];
      while ((cuts.at(-1) as number) < sent.length) {
        const at = cuts.at(-1) as number;
        const inside = at > 100 && at < sent.length - 200;
        cuts.push(Math.min(sent.length, at + (inside ? Math.max(step, 60_000) : step)));
      }
      cuts.slice(1).forEach((to, index) => rows.receive(sent.subarray(cuts[index], to)));
      expect(taken).toEqual([value]);
      expect(Buffer.concat(passed)).toEqual(Buffer.concat([...small, ...last, row('x'), ...last]));
    }
  });

  it('go to the query that the end of the one before begins', () => {
    const value = 'a'.repeat(LARGE_BYTES);
    const end = message('Z', Buffer.from('I'));
    const taken: string[] = [];
    const rows = new LargeRows((bytes) => {
      if (bytes.equals(end)) rows.take = (text) => taken.push(String(text));
    });
    rows.receive(Buffer.concat([end, row(value), end]));
    expect(taken).toEqual([value]);
  });

  it('go to the driver when no query takes them', () => {
    const sent = Buffer.concat([row('a'.repeat(LARGE_BYTES + 1)), message('Z', Buffer.from('I'))]);
    const passed: Buffer[] = [];
    new LargeRows((bytes) => passed.push(bytes)).receive(sent);
    expect(Buffer.concat(passed)).toEqual(sent);
  });
});

describe.each(databases)('a large answer of $name', ({ create, missing }) => {
  it.skipIf(missing)('comes in bytes when these are asked for, else as a string', async () => {
    const { store, drop } = await create();
    const text =
      store.dialect === 'sqlite'
        ? `select replace(hex(zeroblob(?)), '00', 'é"') as j`
        : `select repeat('é"', $1::int) as j`;
    const statement = { text, long: true };
    const answer = (count: number, large: boolean) =>
      store.answer(statement, [count], { ...BOUNDS, large });
    try {
      const large = await answer(1_000_000, true);
      expect(large).toBeInstanceOf(LargeText);
      expect((large as LargeText).bytes).toBe(3_000_000);
      expect(String(large) === 'é"'.repeat(1_000_000)).toBe(true);
      expect((await answer(1_000_000, false)) === 'é"'.repeat(1_000_000)).toBe(true);
      expect(await answer(10, true)).toBe('é"'.repeat(10));
      const many = await Promise.all([1e6, 5, 2e6, 1, 3e6].map((count) => answer(count, true)));
      expect(many.map((each) => String(each).length)).toEqual([2e6, 10, 4e6, 2, 6e6]);
    } finally {
      await drop();
    }
  });
});

describe('a large text', () => {
  it('finds words across its pieces, is cut and joined as a string is', () => {
    const text = '{"data":{"a":"ünïcode $marker9 text"}}';
    const bytes = Buffer.from(text);
    for (let size = 1; size < 12; size += 1) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const large = new LargeText(pieces);
      expect(String(large)).toBe(text);
      expect(large.includes('$marker9')).toBe(true);
      expect(large.includes('$marker8')).toBe(false);
      expect(String(large.slice(8, -1))).toBe(bytes.subarray(8, -1).toString());
      expect(String(joinTexts(['[', large, ',', large, ']']))).toBe(`[${text},${text}]`);
    }
  });

  it('gives its memory back when it was sent, and leaves what it shares', async () => {
    const shared = Buffer.from('[');
    const whole = new Uint8Array(LARGE_BYTES).fill(32);
    const text = new LargeText([shared, whole, Buffer.from(']')]);
    const koa = new Koa().use((ctx) => sendText(ctx, text));
    const server = koa.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const answer = await (await fetch(`http://127.0.0.1:${port}`)).text();
      expect(answer === `[${' '.repeat(LARGE_BYTES)}]`).toBe(true);
      await expect.poll(() => whole.byteLength).toBe(0);
      expect(String(shared)).toBe('[');
    } finally {
      server.close();
    }
  });
});
