import { CompiledQuery, sql } from 'kysely';
import type { TestServer } from './server.ts';

/** The steps of a statement's plan that read a table of users from its first row to its last. */
export async function scansOf({ kernel }: TestServer, statement: CompiledQuery): Promise<string[]> {
  const { db, dialect } = kernel.store;
  const word = dialect === 'postgres' ? 'explain' : 'explain query plan';
  const { rows } = await db.executeQuery<Record<string, unknown>>(
    CompiledQuery.raw(`${word} ${statement.sql}`, [...statement.parameters]),
  );
  return rows
    .map((row) => String(row['QUERY PLAN'] ?? row['detail']))
    .filter((step) => /Seq Scan on (auth_)?users|^SCAN (?!.*USING (COVERING )?INDEX)/.test(step));
}

/** Adds users by SQL, some of whom have never signed in. */
export async function fillWithUsers({ kernel }: TestServer, count: number): Promise<void> {
  const { db } = kernel.store;
  const numbers = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)})`;
  await sql`insert into users (id, name, email)
    ${numbers} select 10000 + i, 'Name ' || i, 'user' || i || '@big.test' from n`.execute(db);
  await sql`insert into auth_users (user_id, username, username_key, first_name, last_name, role_id, created_at, last_login)
    ${numbers} select 10000 + i, 'nick' || i, 'nick' || i, 'First' || i, 'Last' || i, 3,
      1700000000000 + i, case when i % 3 = 0 then null else 1800000000000 - i end from n`.execute(
    db,
  );
  await sql`analyze`.execute(db);
}
