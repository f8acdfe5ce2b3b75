import { expect } from 'vitest';
import {
  ask,
  COMMIT,
  change,
  compare,
  edit,
  forget,
  killed,
  migrationsOf,
  plan,
  printed,
  removeNamed,
  settle,
  type,
} from './month.ts';
import type { Change } from './week-1.ts';

/** A migration by hand, as `migrate new` begins it, with SQL of its own both ways. */
const byHand = (up: string, down: string) => `import { type Kysely, sql } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  await sql\`${up}\`.execute(db);
}

export async function down(db: Kysely<any>): Promise<void> {
  await sql\`${down}\`.execute(db);
}
`;

export const WEEK_2: readonly Change[] = [
  [
    'a field becomes required, with the default that is printed',
    async (month) => {
      edit(month, ['email: String\n', 'email: String!\n']);
      const { text } = await type(month, 'generate');
      const [step] = await plan(month, 5);
      expect(step).toMatchObject({ object: 'owners.email', atRisk: 2, keys: ['4', '8'] });
      const fix = printed(text, /owners\.email is to be required[^]*?as (@default\(.*?\)), or/);
      edit(month, ['email: String!\n', `email: String! ${fix}\n`]);
      removeNamed(month, text);
      await type(month, 'generate');
      change(month, 'owners', ({ email }) => ({ email: email ?? 'text' }));
      await settle(month);
    },
  ],
  [
    'a field becomes unique, which rows repeat, and the run is killed while it is made',
    async (month) => {
      edit(month, ['email: String! @default(value: "text")', 'email: String! @unique']);
      await type(month, 'generate');
      const [step] = await plan(month, 5);
      expect(step).toMatchObject({ verdict: 'impossible', atRisk: 2, keys: ['7', '8'] });
      expect(step!.fix).toContain('give each of these rows a value of its own');
      await type(month, 'migrate up', 5);
      await compare(month, 1);
      const { db } = month.database.store;
      for (const key of step!.keys.map(Number)) {
        await db
          .updateTable('owners')
          .set({ email: `own${key}` })
          .where('id', '=', key)
          .execute();
        change(month, 'owners', ({ id, email }) => ({ email: id === key ? `own${key}` : email }));
      }
      const [again] = await plan(month);
      expect(again!.online).toBe(month.postgres);
      if (month.postgres)
        await killed(month, { at: '^create unique index concurrently' }, 'during');
      else await killed(month, { at: '^create table', since: '^begin immediate' }, 'after');
      await compare(month, 1);
      const { partial } = JSON.parse((await type(month, 'migrate status --json')).stdout);
      expect(partial).toEqual(month.postgres ? migrationsOf(month).slice(-1) : []);
      await settle(month);
    },
  ],
  [
    'an index comes and another one goes',
    async (month) => {
      edit(
        month,
        ['type Visit {', 'type Visit @index(fields: ["status", "at"]) {'],
        [' @index(fields: ["city"])', ''],
        ['type Treatment {', 'type Treatment @index(fields: ["visit", "name"], unique: true) {'],
      );
      await type(month, 'generate');
      await settle(month);
    },
  ],
  [
    'one owner of a pet becomes many, with the rows copied by hand',
    async (month) => {
      edit(month, ['  owner: Owner!\n', '  owners: [Owner!]!\n']);
      await type(month, 'generate');
      const { text } = await type(month, 'migrate new copy_owners');
      month.shop.write(
        printed(text, /new +(migrations\/\S+)/),
        byHand(
          'insert into owner_pets (owner_id, pet_id) select owner_id, id from pets',
          'delete from owner_pets',
        ),
      );
      month.model['owner_pets'] = month.model['pets']!.map(({ id, owner_id }) => ({
        owner_id,
        pet_id: id,
      }));
      await settle(month, async (url) => {
        await ask(
          url,
          'mutation { updatePet(id: 3, input: { ownerIds: [4, 5] }) { id } deleteOwner(id: 1) }',
        );
        const pairs = month.model['owner_pets']!.filter(({ owner_id }) => owner_id !== 1);
        month.model['owner_pets'] = [...pairs, { owner_id: 5, pet_id: 3 }];
        month.model['owners'] = month.model['owners']!.filter(({ id }) => id !== 1);
        // The column that the schema no longer has does not hold the owner.
        change(month, 'pets', ({ owner_id }) => ({ owner_id: owner_id === 1 ? null : owner_id }));
      });
    },
  ],
  [
    'a table is split: addresses of owners, by a generated migration that is edited',
    async (month) => {
      edit(
        month,
        ['  street: String\n  city: String\n', '  addresses: [Address!]!\n'],
        [
          'type Pet {',
          'type Address {\n  id: ID!\n  street: String\n  city: String\n  owner: Owner!\n}\n\ntype Pet {',
        ],
      );
      const { text } = await type(month, 'generate');
      const file = printed(text, /new +(migrations\/\S+)/);
      const code = byHand(
        'insert into addresses (street, city, owner_id) select street, city, id from owners where street is not null order by id',
        'delete from addresses',
      );
      month.shop.write(
        file,
        `${code.split('\n')[0]}\n${month.shop.read(file)}${code.slice(code.indexOf('\n') + 1)}`,
      );
      month.model['addresses'] = month.model['owners']!.filter(({ street }) => street !== null).map(
        ({ street, city, id }, at) => ({ id: at + 1, street, city, owner_id: id }),
      );
      await settle(month);
    },
  ],
  [
    'columns that the schema no longer has are dropped, killed, and their values rescued',
    async (month) => {
      const { text } = await type(month, 'check --hints');
      const drops = [...text.matchAll(/COLUMN_KEPT[^]*?fix +(npm run generate -- .+)/g)].map(
        ([, fix]) => fix!,
      );
      expect(drops).toHaveLength(3);
      const words = drops.map((line) => line.replace('npm run generate --', '').trim()).join(' ');
      await type(month, `generate ${words}`);
      for (const { verdict } of await plan(month)) expect(verdict).toBe('allowed');
      await killed(month, COMMIT, month.postgres ? 'during' : 'before');
      const up = await type(month, 'migrate up');
      if (up.text.includes('applied')) {
        const file = printed(up.text, /(\.generator\/rescued\/\S+-pets\.jsonl)/);
        const rescued = month.shop
          .read(file)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        expect(rescued).toEqual(
          month.model['pets']!.filter(({ owner_id }) => owner_id !== null).map(
            ({ id, owner_id }) => ({ id, owner_id }),
          ),
        );
      }
      forget(month, 'pets', 'owner_id');
      forget(month, 'owners', 'street');
      forget(month, 'owners', 'city');
      await settle(month);
    },
  ],
  [
    'a field moves to another type',
    async (month) => {
      edit(
        month,
        ['  reason: String\n', ''],
        ['  minutes: BigInt\n', '  minutes: BigInt\n  note: String\n'],
      );
      await type(month, 'generate');
      const { text } = await type(month, 'migrate new move_reasons');
      month.shop.write(
        printed(text, /new +(migrations\/\S+)/),
        byHand(
          'update treatments set note = (select reason from visits where visits.id = treatments.visit_id)',
          'update treatments set note = null',
        ),
      );
      const reasons = new Map(month.model['visits']!.map(({ id, reason }) => [id, reason]));
      change(month, 'treatments', ({ visit_id }) => ({ note: reasons.get(visit_id as number) }));
      await settle(month);
      await type(month, 'generate --allow-drop Visit.reason');
      forget(month, 'visits', 'reason');
      await settle(month);
    },
  ],
];
