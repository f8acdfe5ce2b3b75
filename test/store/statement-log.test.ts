import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CHANGE_COUNTER } from '../../runtime/core/store/change-counter.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'statement-log-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the log of statements', () => {
  it('leaves out the change counter, which is read with every request', async () => {
    const noted: string[] = [];
    const store = openStore('file:log.db', folder, { note: (sql) => noted.push(sql) });
    expect(store.valueNow!(CHANGE_COUNTER, [])).toEqual(expect.any(Number));
    expect(store.valueNow!('select 41 + 1', [])).toBe(42);
    await store.close();
    expect(noted).toEqual(['select 41 + 1']);
  });
});
