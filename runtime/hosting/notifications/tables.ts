import type { Kysely } from 'kysely';

/**
 * Receivers of messages, what fails now with what was told of it, and messages that wait for their
 * receivers.
 */
export async function createNotificationTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('hosting_notifications')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('hosting_conditions')
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('app', 'text')
    .addColumn('failing', 'integer', (column) => column.notNull())
    .addColumn('told', 'integer', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('failed_at', 'text')
    .addColumn('recovered_at', 'text')
    .addPrimaryKeyConstraint('hosting_conditions_pk', ['topic', 'subject'])
    .execute();
  await db.schema
    .createTable('hosting_messages')
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('receiver', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('next_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('hosting_messages_pk', ['id', 'receiver'])
    .execute();
}

export async function dropNotificationTables(db: Kysely<any>): Promise<void> {
  for (const table of ['messages', 'conditions', 'notifications'])
    await db.schema.dropTable(`hosting_${table}`).execute();
}
