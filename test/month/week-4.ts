import { expect } from 'vitest';
import { databases } from '../store/databases.ts';
import { ask, change, edit, plan, printed, settle, type } from './month.ts';
import type { Change } from './week-1.ts';

export const WEEK_4: readonly Change[] = [
  [
    'a time becomes a day, with consent for one run',
    async (month) => {
      edit(month, ['  seen: DateTime\n', '  seen: Date\n']);
      await type(month, 'generate');
      const [step] = await plan(month, 5);
      expect(step).toMatchObject({ object: 'suppliers.seen', verdict: 'lossy', keys: ['8'] });
      await type(month, `migrate up ${printed(step!.fix!, /(--allow-loss \S+)/)}`);
      change(month, 'suppliers', ({ seen }) => ({
        seen: seen === null ? null : String(seen).slice(0, 10),
      }));
      await settle(month);
    },
  ],
  [
    'a required field may be empty, an empty list may not',
    async (month) => {
      edit(
        month,
        ['mustCode: String! @default(value: "text")', 'mustCode: String'],
        ['  tags: [String!]\n', '  tags: [String!]! @default(value: [])\n'],
      );
      await type(month, 'generate');
      change(month, 'pets', ({ tags }) => ({ tags: tags ?? [] }));
      await settle(month);
    },
  ],
  [
    'a text becomes an enum',
    async (month) => {
      edit(
        month,
        ['enum Status', 'enum Grade { A B }\nenum Status'],
        ['  grade: String\n', '  grade: Grade\n'],
      );
      await type(month, 'generate');
      const [step] = await plan(month, 5);
      expect(step).toMatchObject({ object: 'suppliers.grade', verdict: 'impossible', keys: ['8'] });
      await month.database.store.db
        .updateTable('suppliers')
        .set({ grade: 'B' })
        .where('id', '=', 8)
        .execute();
      change(month, 'suppliers', ({ grade }) => ({ grade: grade === null ? null : 'B' }));
      await settle(month);
    },
  ],
  [
    'a rule that goes through a new join table',
    async (month) => {
      edit(
        month,
        [
          'type Supplier {',
          'type Supplier\n  @auth(allow: [PUBLIC], on: [READ], where: { clients: { some: { name: { ne: "" } } } })\n  @auth(allow: [PUBLIC], on: [CREATE, UPDATE, DELETE]) {',
        ],
        [
          '  contact: Owner\n',
          '  contact: Owner\n  clients: [Owner!]! @relation(inverse: "suppliers")\n',
        ],
        [
          '  addresses: [Address!]!\n',
          '  addresses: [Address!]!\n  suppliers: [Supplier!]! @relation(inverse: "clients")\n',
        ],
      );
      await type(month, 'generate');
      month.model['owner_suppliers'] = [];
      await settle(month, async (url) => {
        expect(await ask(url, '{ suppliers { id } }')).toEqual({ suppliers: [] });
        const pair = { owner_id: 3, supplier_id: 2 };
        await month.database.store.db.insertInto('owner_suppliers').values(pair).execute();
        month.model['owner_suppliers'] = [pair];
        expect(await ask(url, '{ suppliers { id } }')).toEqual({ suppliers: [{ id: '2' }] });
      });
    },
  ],
  [
    'a type goes with its rows kept, which hold no other row, and is dropped later',
    async (month) => {
      const address = /type Address [^]*?\n}\n\n/.exec(month.shop.read('schema.graphql'))![0];
      edit(month, [address, ''], ['  addresses: [Address!]!\n', '']);
      await type(month, 'generate');
      await settle(month, async (url) => {
        await ask(url, 'mutation { deleteOwner(id: 5) }');
        const others = (table: string, key: string) =>
          month.model[table]!.filter((row) => row[key] !== 5);
        month.model['owners'] = others('owners', 'id');
        month.model['owner_pets'] = others('owner_pets', 'owner_id');
        change(month, 'addresses', ({ owner_id }) => ({
          owner_id: owner_id === 5 ? null : owner_id,
        }));
      });
      const { text } = await type(month, 'check --hints');
      await type(month, printed(text, /COLUMN_KEPT {2}addresses[^]*?fix +(.+)/));
      const [step] = await plan(month);
      const { length } = month.model['addresses']!;
      expect(step).toMatchObject({ verdict: 'allowed', atRisk: length });
      const up = await type(month, 'migrate up');
      const rescued = month.shop.read(
        printed(up.text, /(\.generator\/rescued\/\S+-addresses\.jsonl)/),
      );
      expect(rescued.trim().split('\n')).toHaveLength(length);
      delete month.model['addresses'];
      await settle(month);
    },
  ],
  [
    'all migrations become one, and the database runs nothing again',
    async (month) => {
      const refused = await type(month, 'migrate squash', 5);
      const without = [...refused.text.matchAll(/--without \w+/g)].map(([words]) => words);
      await type(month, `migrate squash ${without.join(' ')}`);
      await settle(month);
    },
  ],
  [
    'ends with the same tables and the same rows on the other database',
    async (month) => {
      await type(month, 'migrate status --drift');
      const other = await databases[0]!.create(month.shop.root);
      try {
        await type(month, `db copy --from ${month.database.url} --to ${other.url}`);
        month.shop.write('.env', `DATABASE_URL=${other.url}\nHOST=127.0.0.1\nPORT=0\n`);
        await settle({ ...month, database: other });
        await type(month, 'migrate status --drift');
      } finally {
        await other.drop();
      }
    },
  ],
];
