import { describe, expect, it } from 'vitest';
import { importPrisma } from '../../../generator/import/prisma/import-prisma.ts';
import { readPrisma } from '../../../generator/import/prisma/read-prisma.ts';
import { printSchema } from '../../../generator/import/print-schema.ts';
import { printReport } from '../../../generator/import/report.ts';

const read = async (text: string, provider = 'postgresql') =>
  importPrisma(
    await readPrisma([
      { file: 'schema.prisma', text: `datasource db {\n  provider = "${provider}"\n}\n${text}` },
    ]),
  );

const sdl = async (text: string, provider?: string) => printSchema(await read(text, provider));

describe('import prisma', () => {
  it('takes defaults of lists and JSON, types with a name of GraphQL, and indexes over closed columns', async () => {
    const text = await sdl(`
      model Subscription {
        id    Int      @id
        tags  String[] @default([])
        roles String[] @default(["USER"])
        meta  Json     @default("{}")
        token String   @unique
        query Query[]
        @@index([token])
      }
      model Query {
        kind  String
        token String
        subs  Subscription[]
        @@id([kind, token])
      }
    `);
    expect(text).toContain(`type PublicSubscription @table(name: "Subscription") {
  id: ID!
  tags: [String!] @column(type: "text[]") @default(expr: DATABASE)
  roles: [String!] @column(type: "text[]") @default(expr: DATABASE)
  meta: JSON! @default(expr: DATABASE)
  # token: String! @unique`);
    expect(text).toContain('type PublicQuery @table(name: "Query", key: ["kind", "token"]) {');
    expect(text).toContain('  token: String!\n  subs: [PublicSubscription!]!');
    expect(text).not.toContain('@index');
  });

  it('keeps fields apart whose columns only Prisma tells apart', async () => {
    const text = await sdl(`
      model Entry {
        createdAt  DateTime
        created_at DateTime
        authorId   String?
        author     User     @relation(fields: [author_id, created_at], references: [id, made_at])
        author_id  Int
        @@id([createdAt, created_at])
        @@index([created_at])
      }
      model User {
        id      Int      @id
        madeAt  DateTime @map("made")
        made_at DateTime
        entries Entry[]
        @@unique([id, made_at])
      }
    `);
    // A foreign key to a key and more is shown by the key, and the table keeps its own key.
    expect(text).toContain('key: ["_createdAt", "created_at"]');
    expect(text).toContain('author: User! @relation(column: "author_id")');
    expect(text).toContain('  madeAt: DateTime! @column(name: "made"');
    expect(text).toContain('  _made_at: DateTime! @column(name: "made_at"');
    expect(text).toContain('@index(fields: ["id", "_made_at"], unique: true)');
    const single = await sdl(`
      model Entry {
        id         Int      @id
        createdAt  DateTime
        created_at DateTime
        authorId   String?
        author     User     @relation(fields: [author_id], references: [id])
        author_id  Int
        @@index([created_at(sort: Desc), authorId])
      }
      model User {
        id      Int      @id
        entries Entry[]
      }
    `);
    expect(single).toContain('  createdAt: DateTime! @column(name: "createdAt"');
    expect(single).toContain('  _created_at: DateTime! @column(name: "created_at"');
    expect(single).toContain('  author: User! @relation(column: "author_id")');
    expect(single).toContain('  _authorId: String @column(name: "authorId")');
    expect(single).toContain('@index(fields: ["_created_at", "_authorId"])');
  });

  it('names tables, columns and types as the database has them', async () => {
    const text = await sdl(`
      /// Who writes.
      model BlogUser {
        id        Int      @id @default(autoincrement())
        fullName  String   @db.VarChar(80)
        createdAt DateTime @default(now()) @map("created_at") @db.Timestamptz(3)
        score     Decimal  @default(1.5) @db.Decimal(6, 2)
        tags      String[]
        @@map("users")
        @@schema("blog")
      }
    `);
    expect(text).toContain(`"""Who writes."""
type BlogUser @table(name: "users", schema: "blog") {
  id: ID! @default(expr: DATABASE)
  fullName: String! @column(name: "fullName", type: "varchar(80)") @constraint(maxLength: 80)
  createdAt: DateTime! @default(expr: DATABASE)
  score: Decimal! @column(type: "numeric(6,2)") @default(expr: DATABASE)
  tags: [String!] @column(type: "text[]")
}`);
    expect(text).toContain('blogUser(id: ID!): BlogUser\n');
    expect(text).toContain('blogUsers(limit: Int, offset: Int): [BlogUser!]!');
  });

  it('makes one field of a foreign key and its relation, and names both ends where two could be meant', async () => {
    const text = await sdl(`
      model User {
        id       Int    @id
        wrote    Post[] @relation("author")
        reviewed Post[] @relation("reviewer")
      }
      model Post {
        id         String @id @default(uuid()) @db.Uuid
        author     User   @relation("author", fields: [authorId], references: [id], onDelete: Cascade)
        authorId   Int    @map("author_id")
        reviewer   User?  @relation("reviewer", fields: [reviewerId], references: [id])
        reviewerId Int?
        @@index([authorId, id])
      }
    `);
    expect(text).toContain('wrote: [Post!]! @relation(inverse: "author")');
    expect(text).toContain('author: User! @relation(column: "author_id", onDelete: CASCADE)');
    expect(text).toContain('reviewer: User @relation(column: "reviewerId")');
    expect(text).toContain('type Post @table(name: "Post") @index(fields: ["author", "id"])');
    expect(text).not.toMatch(/authorId|reviewerId:/);
  });

  it('knows the tables that Prisma makes of two lists', async () => {
    const text = await sdl(`
      model Post {
        id   Int @id
        tags Tag[]
      }
      model Tag {
        name  String @id
        posts Post[]
        near  Tag[] @relation("near")
        nearOf Tag[] @relation("near")
      }
    `);
    expect(text).toContain('tags: [Tag!]! @relation(table: "_PostToTag", columns: ["A", "B"])');
    expect(text).toContain('posts: [Post!]! @relation(table: "_PostToTag", columns: ["B", "A"])');
    expect(text).toContain(
      'near: [Tag!]! @relation(table: "_near", columns: ["A", "B"], inverse: "nearOf")',
    );
    expect(text).toContain('type Tag @table(name: "Tag", key: ["name"])');
  });

  it('has keys of several columns, of relations, and of views', async () => {
    const text = await sdl(`
      model User { 
        id   Int @id
        likes Like[]
        profile Profile?
      }
      model Like {
        user   User @relation(fields: [userId], references: [id])
        userId Int
        what   String
        @@id([userId, what])
      }
      model Profile {
        user   User @relation(fields: [userId], references: [id])
        userId Int @id
      }
      view Top {
        title String @unique
        plays BigInt?
      }
      model Log {
        line String?
      }
    `);
    expect(text).toContain('type Like @table(name: "Like", key: ["user", "what"]) {\n  id: ID!\n');
    expect(text).toContain('type Profile @table(name: "Profile", key: ["user"]) {\n  id: ID!\n');
    expect(text).toContain('type Top @table(name: "Top", key: ["title"], view: true)');
    expect(text).toContain('type Log @table(name: "Log", view: true)');
    expect(text).toContain('profile(id: ID!): Profile');
    expect(text).not.toContain('log(id');
  });

  it('serves enums under the names that the database stores', async () => {
    const text = `
      enum Role {
        ADMIN
        /// Reads only.
        GUEST @map("guest")
        @@map("roles")
      }
      model User {
        id   Int  @id
        role Role @default(GUEST)
        all  Role[]
      }
    `;
    expect(await sdl(text)).toContain(
      'enum Role @column(type: "roles") {\n  ADMIN\n  """Reads only."""\n  GUEST @column(name: "guest")\n}',
    );
    expect(await sdl(text)).toContain('role: Role! @default(value: GUEST)');
    expect(await sdl(text)).toContain('all: [Role!] @column(type: "roles[]")');
    expect(await sdl(text, 'sqlite')).toContain('enum Role {');
  });

  it('reports each object once, and everything that it does not serve as it was', async () => {
    const imported = await read(`
      model User {
        id           Int    @id @default(autoincrement())
        passwordHash String @map("password_hash")
        place        Unsupported("point")?
        seen         DateTime @default(now())
        nano         String @default(nanoid())
        network      String @db.Inet
        hidden       Int    @ignore
        @@index([seen], type: Brin)
      }
      model Old {
        id Int @id
        @@ignore
      }
      type Address {
        city String
      }
    `);
    const objects = imported.items.map(({ object, kind }) => `${kind} ${object}`);
    expect(new Set(objects).size).toBe(objects.length);
    const statusOf = (object: string) =>
      imported.items.find((item) => item.object === object)?.status;
    expect({
      hash: statusOf('public.User.password_hash'),
      place: statusOf('public.User.place'),
      seen: statusOf('public.User.seen'),
      nano: statusOf('public.User.nano'),
      network: statusOf('public.User.network'),
      hidden: statusOf('public.User.hidden'),
      index: statusOf('public.User(seen)'),
      old: statusOf('public.Old'),
      address: statusOf('Address'),
      id: statusOf('public.User.id'),
    }).toEqual({
      hash: 'closed',
      place: 'notExpressible',
      seen: 'approximated',
      nano: 'approximated',
      network: 'approximated',
      hidden: 'closed',
      index: 'notExpressible',
      old: 'closed',
      address: 'notExpressible',
      id: 'kept',
    });
    const text = printSchema(imported);
    expect(text).toMatch(/^ {2}# passwordHash: String!/m);
    expect(text).not.toMatch(/^ {2}(passwordHash|place|hidden)/m);
    expect(
      printReport(imported, { source: 'schema.prisma', access: 'every signed-in user' }),
    ).toMatch(
      /^Everything below can be read and changed by every signed-in user[^]*## Not expressible[^]*point/,
    );
  });

  it.each([
    ['model User {\n  id Int @id(\n}\n', 2],
    ['model User {\n  id Int $\n}\n', 2],
    ['model User {\n  id Int @id\n', 2],
  ])('names the line of what it cannot read: %j', async (text, line) => {
    await expect(readPrisma([{ file: 'a.prisma', text }])).rejects.toMatchObject({
      code: 'PRISMA_SYNTAX',
      message: expect.stringMatching(new RegExp(`^a\\.prisma:${line}:`)),
    });
  });
});
