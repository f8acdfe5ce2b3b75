import { afterAll, beforeAll, describe, test } from 'vitest';
import type { databases } from '../store/databases.ts';
import { seedFile } from './clinic.ts';
import { endMonth, type Month, remove, settle, startMonth, type } from './month.ts';
import { type Change, WEEK_1 } from './week-1.ts';
import { WEEK_2 } from './week-2.ts';
import { WEEK_3 } from './week-3.ts';
import { WEEK_4 } from './week-4.ts';

/** A month of changes as a team makes them, each a test. Every one builds on those before it. */
export function testMonth({ name, missing, create }: (typeof databases)[number]): void {
  describe.skipIf(missing !== null)(`a month on ${name}${missing ? ` (${missing})` : ''}`, () => {
    let month: Month;
    let broken = false;
    beforeAll(async () => {
      month = await startMonth(create);
    });
    afterAll(() => endMonth(month));
    for (const [title, does] of CHANGES)
      test(title, { timeout: 900_000, retry: 0 }, async (context) => {
        context.skip(broken, 'a change before it failed');
        broken = true;
        await does(month);
        broken = false;
      });
  });
}

const noDrift = async (month: Month) => void (await type(month, 'migrate status --drift'));

const CHANGES: readonly Change[] = [
  [
    'begins with rows in eight types',
    async (month) => {
      await type(month, 'generate');
      month.shop.write('seed.yaml', seedFile());
      await type(month, 'seed');
      remove(month, 'seed.yaml');
      await settle(month);
    },
  ],
  ...WEEK_1,
  ...WEEK_2,
  ['half of the month leaves no drift', noDrift],
  ...WEEK_3,
  ...WEEK_4,
];
