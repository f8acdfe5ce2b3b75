import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { databases, type TestDatabase } from '../../store/databases.ts';
import { query } from '../../server/program.ts';
import { generator, linkPackages, makeProject, type TestProject } from '../project.ts';
import { sqlOfPrisma } from './prisma-engine.ts';
import { start } from './start-server.ts';

/** Every form that the importer knows, as Prisma accepts it. */
const SCHEMA = `generator client {
  provider = "prisma-client"
}

datasource db {
  provider = "postgresql"
}

/// Who writes.
model User {
  id           Int       @id @default(autoincrement())
  email        String    @unique @db.VarChar(200)
  passwordHash String    @default("x")
  tags         String[]
  role         Role      @default(GUEST)
  balance      BigInt    @default(9223372036854775807)
  price        Decimal   @default(0.10) @db.Decimal(12, 2)
  place        Unsupported("point")?
  createdAt    DateTime  @default(now()) @map("created_at") @db.Timestamptz(3)
  seenAt       DateTime?
  wrote        Post[]    @relation("author")
  reviewed     Post[]    @relation("reviewer")
  profile      Profile?
  likes        Like[]
  follows      User[]    @relation("follows")
  followedBy   User[]    @relation("follows")

  @@map("users")
}

model Post {
  id         String  @id @default(uuid())
  title      String
  meta       Json?
  author     User    @relation("author", fields: [authorId], references: [id], onDelete: Cascade)
  authorId   Int
  reviewer   User?   @relation("reviewer", fields: [reviewerId], references: [id])
  reviewerId Int?
  categories Category[]
  likes      Like[]

  @@unique([authorId, title])
}

model Category {
  name  String @id
  posts Post[]
}

model Profile {
  user   User    @relation(fields: [userId], references: [id])
  userId Int     @id
  bio    String?
}

model Like {
  user   User     @relation(fields: [userId], references: [id])
  userId Int
  post   Post     @relation(fields: [postId], references: [id])
  postId String
  at     DateTime @default(now())

  @@id([userId, postId])
}

enum Role {
  ADMIN
  GUEST @map("guest")

  @@map("user role")
}
`;

const ROWS = `
  insert into users (email, tags, role, seen_at) values ('ann@example.test', '{a,b}', 'ADMIN', null);
  insert into users (email) values ('bob@example.test');
  insert into "Post" (id, title, meta, "authorId", "reviewerId") values ('p1', 'One', '{"a":[1]}', 1, 2), ('p:2', 'Two', null, 1, null);
  insert into "Category" values ('news'), ('more');
  insert into "_CategoryToPost" values ('news', 'p1'), ('more', 'p1'), ('news', 'p:2');
  insert into "_follows" ("A", "B") values (1, 2); -- A is the row of the field whose name comes first: followedBy
  insert into "Profile" values (1, 'Writes.');
  insert into "Like" ("userId", "postId") values (2, 'p:2');
`;

const postgres = databases.find(({ name }) => name === 'PostgreSQL')!;

describe.skipIf(postgres.missing !== null)(
  `a project made from a Prisma schema, on the database that Prisma makes of it${postgres.missing ? ` (${postgres.missing})` : ''}`,
  () => {
    let database: TestDatabase;
    let shop: TestProject;
    let server: ChildProcess;
    let url = '';

    beforeAll(async () => {
      database = await postgres.create();
      const client = new pg.Client(database.url);
      await client.connect();
      await client.query(await sqlOfPrisma(database.url, SCHEMA));
      await client.query(ROWS.replace('seen_at', '"seenAt"'));
      await client.end();
      shop = makeProject({ 'prisma/schema.prisma': SCHEMA });
      linkPackages(shop);
      const imported = await generator(['import', 'prisma', '--json', '--crud'], shop.root);
      expect([imported.code, imported.stderr]).toEqual([0, '']);
      shop.write('.env', `DATABASE_URL=${database.url}\nHOST=127.0.0.1\nPORT=0\n`);
      [server, url] = await start(shop);
    });

    afterAll(async () => {
      server?.kill('SIGKILL');
      shop?.remove();
      await database?.drop();
    });

    it('has no migration, and its catalog fits', async () => {
      expect(shop.has('migrations/0001_init.ts')).toBe(false);
      expect(await generator(['check', '--database'], shop.root)).toMatchObject({ code: 0 });
    });

    it('answers every table, relation and kind of value', async () => {
      const answer = await query(
        url,
        `{
          users(limit: 5) { id email tags role balance price createdAt seenAt wrote { id } reviewed { id } profile { bio } likes { id } follows { email } followedBy { email } }
          post(id: "p1") { title meta author { email } reviewer { email } categories { name } likes { id } }
          category(name: "news") { posts { id } }
          profile(id: "1") { user { email } bio }
          like(id: "2:p%3A2") { id user { email } post { title } }
          userByEmail(email: "bob@example.test") { id role }
        }`,
      );
      expect(answer).toEqual({
        data: {
          users: [
            {
              id: '1',
              email: 'ann@example.test',
              tags: ['a', 'b'],
              role: 'ADMIN',
              balance: '9223372036854775807',
              price: '0.10',
              createdAt: expect.stringMatching(/Z$/),
              seenAt: null,
              wrote: [{ id: 'p1' }, { id: 'p:2' }],
              reviewed: [],
              profile: { bio: 'Writes.' },
              likes: [],
              follows: [],
              followedBy: [{ email: 'bob@example.test' }],
            },
            expect.objectContaining({
              id: '2',
              role: 'GUEST',
              reviewed: [{ id: 'p1' }],
              likes: [{ id: '2:p%3A2' }],
              follows: [{ email: 'ann@example.test' }],
            }),
          ],
          post: {
            title: 'One',
            meta: { a: [1] },
            author: { email: 'ann@example.test' },
            reviewer: { email: 'bob@example.test' },
            categories: [{ name: 'more' }, { name: 'news' }],
            likes: [],
          },
          category: { posts: [{ id: 'p1' }, { id: 'p:2' }] },
          profile: { user: { email: 'ann@example.test' }, bio: 'Writes.' },
          like: { id: '2:p%3A2', user: { email: 'bob@example.test' }, post: { title: 'Two' } },
          userByEmail: { id: '2', role: 'GUEST' },
        },
      });
    });

    it('writes nothing when it is imported again', async () => {
      const before = shop.files();
      const again = await generator(['import', 'prisma', '--json', '--crud'], shop.root);
      expect([again.code, JSON.parse(again.stdout).files]).toEqual([0, []]);
      expect(shop.files()).toEqual(before);
    });
  },
);
