import type { Kysely } from 'kysely';
import type { Migration } from '@twofold/runtime/kernel';

/** Keys for models, the state of their budgets, and what was used in each hour. */
export const modelMigrations: readonly Migration[] = [
  { name: 'models/0001_keys', up: createTables, down: dropTables },
];

async function createTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_model_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('prefix', 'text', (column) => column.notNull())
    // Null for a budget of a key of the server, whose text is checked elsewhere.
    .addColumn('hash', 'text', (column) => column.unique())
    .addColumn('models', 'text', (column) => column.notNull())
    .addColumn('budget', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .execute();
  await db.schema
    .createTable('hosting_model_budgets')
    .addColumn('subject', 'text', (column) => column.primaryKey())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .execute();
  await createUsage(db);
}

async function createUsage(db: Kysely<any>): Promise<void> {
  const counts = ['requests', 'failed', 'input_tokens', 'output_tokens', 'money'];
  const table = db.schema
    .createTable('hosting_model_usage')
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('hosting_model_usage_pk', ['at', 'key', 'model']);
  await counts
    .reduce((made, name) => made.addColumn(name, 'bigint', (column) => column.notNull()), table)
    .execute();
}

async function dropTables(db: Kysely<any>): Promise<void> {
  for (const table of ['usage', 'budgets', 'keys'])
    await db.schema.dropTable(`hosting_model_${table}`).execute();
}
