import { describe, expect, it } from 'vitest';
import { ruleSentence } from '../../generator/explain/rules.ts';
import { ruleTexts } from '../../runtime/core/data/access/rule-text.ts';
import { createLog } from '../../runtime/core/config/log.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { createDryRun } from '../../runtime/core/graphql/dry-run.ts';
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

const SILENT = createLog({ level: 'silent' }, { write: () => {} });

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

  it('of organizations, with the parameter that holds those of the caller', async () => {
    const tenants = `type Query { orders: [Order!]! } type Company { id: ID! name: String! } type User { id: ID! email: String! }
      type Order @auth(allow: [TENANT]) @auth(allow: [TENANT], roles: ["Owner"], on: [DELETE])
      { id: ID! company: Company! items: [Item!]! } type Item @auth(allow: [TENANT], tenant: "order.company") { id: ID! order: Order! }`;
    const manifest =
      'name: x\nauth: { organizations: { type: Company, roles: [Owner, Member] } }\n';
    const tenant = projectOf(tenants, manifest);
    expect(ruleTexts(tenant, 'postgres')).toMatchObject({
      Order: [
        '"orders"."company_id" = any(:organizations)',
        '"orders"."company_id" = any(:organizations(Owner))',
      ],
      Item: [
        '"items"."order_id" in (select t1."id" from "orders" t1 where t1."company_id" = any(:organizations))',
      ],
    });
    expect(ruleTexts(tenant, 'sqlite')['Order']?.[0]).toBe(
      '"orders"."company_id" in (select value from json_each(:organizations))',
    );
    const dryRun = createDryRun({
      kernel: { project: tenant, settings: createSettings({}), log: SILENT, root: '/' },
      dialect: 'sqlite',
      resolvers: {},
      scalars: {},
    });
    const told = await dryRun('{ orders { id } }');
    expect(told?.as).toBe('a signed-in user');
    expect(told?.statements.join('\n')).toContain(
      '"company_id" in (select value from json_each(?))',
    );
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
