import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { dumpInto } from '../../runtime/hosting/backups/system.ts';

/** Every write to it fails as on a disk that is full. */
const FULL = '/dev/full';

const inPieces = (count: number, text: string) => async (rows: Writable) => {
  for (let piece = 0; piece < count; piece += 1) {
    rows.write(text);
    await sleep(5);
  }
  return { tables: [] };
};

describe.skipIf(process.platform !== 'linux')("a backup of the server's rows", () => {
  it.each([
    ['few', 'a row\n'],
    ['many', 'a row\n'.repeat(50_000)],
  ])('says that the disk is full, with %s rows, and the server goes on', async (_name, text) => {
    const seen: unknown[] = [];
    const see = (error: unknown) => seen.push(error);
    process.on('uncaughtException', see);
    try {
      await expect(dumpInto(FULL, inPieces(10, text))).rejects.toThrow(/ENOSPC/);
      await sleep(100);
    } finally {
      process.off('uncaughtException', see);
    }
    expect(seen).toEqual([]);
  });

  it('fails as the database does', async () => {
    const dump = async (rows: Writable) => {
      rows.write('a row\n');
      throw new Error('the database is gone');
    };
    await expect(dumpInto('/dev/null', dump)).rejects.toThrow('the database is gone');
  });
});
