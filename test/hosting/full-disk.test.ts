import { open } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { AppError } from '../../runtime/core/errors.ts';
import { asFullDisk } from '../../runtime/hosting/host/full-disk.ts';
import { startServer } from './server.ts';

const thrown = (error: unknown) => {
  try {
    return asFullDisk(error);
  } catch (result) {
    return result;
  }
};

it('what the system says of a full disk is 507, also below another error', async () => {
  const file = await open('/dev/full', 'w');
  const error = await file.write('x').then(
    () => null,
    (reason: unknown) => reason,
  );
  await file.close();
  expect(thrown(error)).toMatchObject({ status: 507, code: 'DISK_FULL' });
  const fetched = new AppError(
    422,
    'X',
    'The repository cannot be fetched: No space left on device',
  );
  for (const each of [fetched, new Error('a deployment failed', { cause: error })])
    expect(thrown(each)).toMatchObject({ status: 507 });
  for (const other of [new AppError(507, 'OTHER', 'no space left on device'), new Error('x'), 'x'])
    expect(thrown(other)).toBe(other);
});

it('a database that cannot grow answers 507, and reads go on', async () => {
  const server = await startServer({ socket: '/nonexistent.sock' });
  // The limit is the connection's, and only one of them writes.
  await server.kernel.store.transaction(async (trx) => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(trx as never);
    const pages = sql.raw(String(rows[0]?.page_count));
    await sql`pragma max_page_count = ${pages}`.execute(trx as never);
  });
  const statuses = new Set<number>();
  for (let number = 0; number < 60; number += 1) {
    const env = { WORD: 'x'.repeat(4000) };
    const { status } = await server.api('POST', '/api/apps', { name: `app-${number}`, env });
    statuses.add(status);
  }
  expect([...statuses].filter((status) => status !== 201)).toEqual([507]);
  expect((await server.api('GET', '/api/apps')).status).toBe(200);
  await server.stop();
});
