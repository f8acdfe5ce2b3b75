import { describe, expect, it } from 'vitest';
import { ruleSentence } from '../../generator/explain/rules.ts';
import { ruleTexts } from '../../runtime/core/data/access/rule-text.ts';
import { projectOf } from '../graphql/harness.ts';
import { generator, linkPackages, makeProject } from './project.ts';

const SCHEMA = `
  scalar JSON enum Role { EDITOR VIEWER } enum Mode { INSENSITIVE }
  type Query { tasks: [Task!]! }
  type User { id: ID! email: String! }
  type Project @auth(allow: [PUBLIC]) { id: ID! owner: User members: [Member!]! }
  type Member @auth(allow: [PUBLIC]) { id: ID! project: Project! user: User! role: Role! }
  type Task
    @auth(allow: [OWNER], owner: "project.owner")
    @auth(allow: [USER], on: [UPDATE], where: { project: { members: { some: { user: CALLER, role: EDITOR } } } })
    @auth(allow: [ROLE], roles: ["admin"])
    @auth(allow: [PUBLIC], on: [READ], where: { or: [{ tags: { has: "open" } }, { not: { title: { eq: "x", mode: INSENSITIVE } } }, { company: { claim: "company.id" } }] })
    @auth(allow: [PUBLIC], on: [READ], where: { project: { members: { count: { gte: 3 } } }, meta: { path: ["a"], isNull: true } })
  { id: ID! title: String company: String tags: [String!] meta: JSON project: Project salary: Int @auth(allow: [OWNER], owner: "project.owner", on: [READ]) }
`;
const MANIFEST = 'name: shop\nauth: { roles: { list: [admin, member] } }\n';

describe('explain prints each rule', () => {
  const project = projectOf(SCHEMA, MANIFEST);
  const task = project.entities.find(({ name }) => name === 'Task')!;

  it('as a sentence', () => {
    expect(task.rules.map((rule) => ruleSentence(project, task, rule))).toEqual([
      'everything: the owner (project (owner is CALLER))',
      'UPDATE: a signed-in user, where project (some of members (user is CALLER and role is "EDITOR"))',
      'everything: a user with the role admin',
      'READ: anyone, where (tags has "open" or not (title is "x" in any case) or company is claim company.id)',
      'READ: anyone, where project (the number of members ≥ 3) and meta.a is without a value',
    ]);
  });

  it('as SQL, with the names of its values', () => {
    const sql = ruleTexts(project, 'postgres');
    expect(sql['Task.salary']).toEqual([
      '"tasks"."project_id" in (select t1."id" from "projects" t1 where t1."owner_id" = :caller)',
    ]);
    expect(sql['Task']?.[1]).toBe(
      `"tasks"."project_id" in (select t2."project_id" from "members" t2 where (t2."user_id" = :caller) and (t2."role" = 'EDITOR'))`,
    );
    expect(sql['Task']?.[2]).toBeNull();
    expect(sql['Task']?.[3]).toContain('"tasks"."company" = :claim(company.id)');
    expect(Object.keys(ruleTexts(project, 'sqlite'))).toEqual(Object.keys(sql));
  });

  it('on the command line', async () => {
    const shop = makeProject({ 'schema.graphql': SCHEMA, 'manifest.yaml': MANIFEST });
    try {
      linkPackages(shop);
      await generator(['generate'], shop.root);
      const { stdout } = await generator(['explain', 'Task.salary'], shop.root);
      expect(stdout).toContain(
        '  access     READ: the owner (project (owner is CALLER))\n               "tasks"."project_id" in (select',
      );
    } finally {
      shop.remove();
    }
  });
});
