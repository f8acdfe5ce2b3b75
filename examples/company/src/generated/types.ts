// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { Auth as RuntimeAuth, AuthHooks as RuntimeAuthHooks, Extend as RuntimeExtend, Listeners as RuntimeListeners } from '@twofold/auth';
import type { Credential, EntityData, GraphQLScalarTypeConfig, HooksOf, LoadersOf, MiddlewareOf, MutationsOf, RequestContext, RoutesOf, ScalarMapping, TableOf } from '@twofold/runtime';
import type { schemaTypes as $ } from '@twofold/schema';
import type { loaders } from './loaders.ts';

/** What a resolver gets as `ctx`. */
export type Context = RequestContext<Database, LoadersOf<typeof loaders>, Data, RuntimeAuth>;

/** The type of the function in `src/routes.ts`. */
export type Routes = RoutesOf<Context, $.InputTypes<$Schema>>;

/** The type of a function in `src/middleware.ts`. */
export type Middleware = MiddlewareOf<Context>;

// What the files of `src/resolvers/` may implement of each type.
export type CompanyOverrides = CompanyResolvers;
export type MutationOverrides = MutationsOf<MutationResolvers>;
export type ProjectOverrides = ProjectResolvers;
export type QueryOverrides = QueryResolvers;
export type UserOverrides = UserResolvers;

/** The type of the table in `src/scalars.ts`. */
export type Scalars = Readonly<Record<string, ScalarMapping>>;

/** The type of the function in `src/extend.ts`. */
export type Extend = RuntimeExtend<Context>;

/** The type of the functions in `src/auth-hooks.ts`. */
export type AuthHooks = RuntimeAuthHooks<Context>;

/** The type of the functions in `src/auth-events.ts`. */
export type Listeners = RuntimeListeners<Context>;

/** The type of the functions in `src/credentials.ts`. */
export type Credentials = readonly Credential<Context>[];

/** The tables of `ctx.db`, with the names of the schema. */
export interface Database {
  companies: TableOf<CompanyRow, 'id'>;
  projects: TableOf<ProjectRow, 'id' | 'done'>;
  users: TableOf<UserRow, 'id'>;
}

/** A row of `companies`: the fields that are columns, and the foreign keys. */
export interface CompanyRow {
  id: string;
  name: string;
  ownerId: string;
}

/** A row of `projects`: the fields that are columns, and the foreign keys. */
export interface ProjectRow {
  id: string;
  title: string;
  done: boolean;
  companyId: string;
  ownerId: string;
  createdAt: string;
}

/** A row of `users`: the fields that are columns, and the foreign keys. */
export interface UserRow {
  id: string;
  name: string;
  email: string;
  companyId?: string | null;
}

/** `ctx.data`: rows with the checks, rules and events of the API. */
export interface Data {
  readonly company: EntityData<CompanyShape>;
  readonly project: EntityData<ProjectShape>;
  readonly user: EntityData<UserShape>;
}

/** What `ctx.data.company` takes and returns. */
export interface CompanyShape {
  row: CompanyRow;
  key: { id: string };
  one: { owner: UserShape };
  many: { employees: UserShape; projects: ProjectShape };
}

/** What `ctx.data.project` takes and returns. */
export interface ProjectShape {
  row: ProjectRow;
  key: { id: string };
  one: { company: CompanyShape; owner: UserShape };
  many: {};
  times: 'createdAt';
}

/** What `ctx.data.user` takes and returns. */
export interface UserShape {
  row: UserRow;
  key: { id: string } | { email: string };
  one: { company: CompanyShape };
  many: {};
}

// What the files of `src/hooks/` may hold.
export type CompanyHooks = HooksOf<{ shape: CompanyShape; context: Context; given: 'name'; demanded: never; extra: object }>;
export type ProjectHooks = HooksOf<{ shape: ProjectShape; context: Context; given: 'title' | 'companyId'; demanded: never; extra: object }>;
export type UserHooks = HooksOf<{ shape: UserShape; context: Context; given: never; demanded: never; extra: object }>;

/** All built-in and custom scalars, mapped to their actual values */
export type ScalarTypes = {
  ID: { input: string; output: string | number; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  DateTime: { input: string; output: string; }
};

/**
 * The schema, with references as the SDL writes them: the types below follow from it.
 */
export interface $Schema {
  scalars: ScalarTypes;
  enums: {};
  rows: {
    Company: CompanyRow;
    Project: ProjectRow;
    User: UserRow;
  };
  fields: {
    Company: {
      employees: $.WithArgs<'[User!]!', { limit?: 'Int'; offset?: 'Int' }>;
      id: 'ID!';
      name: 'String!';
      owner: 'User!';
      projects: $.WithArgs<'[Project!]!', { limit?: 'Int'; offset?: 'Int' }>;
    };
    Mutation: {
      createCompany: $.WithArgs<'Company!', { name: 'String!' }>;
      createProject: $.WithArgs<'Project!', { input: 'CreateProjectInput!' }>;
      deleteProject: $.WithArgs<'Boolean!', { id: 'ID!' }>;
      joinCompany: $.WithArgs<'User!', { companyId: 'ID!' }>;
      updateProject?: $.WithArgs<'Project', { done?: 'Boolean'; id: 'ID!'; title?: 'String' }>;
    };
    Project: {
      company: 'Company!';
      createdAt: 'DateTime!';
      done: 'Boolean!';
      id: 'ID!';
      owner: 'User!';
      title: 'String!';
    };
    Query: {
      companies: $.WithArgs<'[Company!]!', { limit?: 'Int'; offset?: 'Int' }>;
      company?: $.WithArgs<'Company', { id: 'ID!' }>;
      project?: $.WithArgs<'Project', { id: 'ID!' }>;
      projects: $.WithArgs<'[Project!]!', { done?: 'Boolean'; limit?: 'Int'; offset?: 'Int' }>;
      user?: $.WithArgs<'User', { id: 'ID!' }>;
      users: $.WithArgs<'[User!]!', { limit?: 'Int'; offset?: 'Int' }>;
    };
    User: {
      company?: 'Company';
      email: 'String!';
      id: 'ID!';
      name: 'String!';
    };
  };
  possible: {};
  inputs: {
    CreateProjectInput: {
      companyId: 'ID!';
      title: 'String!';
    };
  };
  oneOf: {};
  roots: 'Query' | 'Mutation' | 'Subscription';
  subscription: 'Subscription';
}

export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
export type RequireFields<T, K extends keyof T> = $.RequireFields<T, K>;
export type ResolverTypeWrapper<T> = $.ResolverTypeWrapper<T>;
export type Resolver<Result, Parent, ContextType, Args = Record<PropertyKey, never>> = $.Resolver<Result, Parent, ContextType, Args>;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = $.ResultTypes<$Schema>;

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = $.ParentTypes<$Schema>;

/** What people work for. It belongs to the person who made it, and only the roles below may read or change it besides. */
export type Company = $.ObjectType<$Schema, 'Company'>;
export type CompanyemployeesArgs = $.ArgsOf<$Schema, 'Company', 'employees'>;
export type CompanyprojectsArgs = $.ArgsOf<$Schema, 'Company', 'projects'>;
export type CreateProjectInput = $.InputType<$Schema, 'CreateProjectInput'>;
export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}
export type Mutation = $.ObjectType<$Schema, 'Mutation'>;
export type MutationcreateCompanyArgs = $.ArgsOf<$Schema, 'Mutation', 'createCompany'>;
export type MutationcreateProjectArgs = $.ArgsOf<$Schema, 'Mutation', 'createProject'>;
export type MutationdeleteProjectArgs = $.ArgsOf<$Schema, 'Mutation', 'deleteProject'>;
export type MutationjoinCompanyArgs = $.ArgsOf<$Schema, 'Mutation', 'joinCompany'>;
export type MutationupdateProjectArgs = $.ArgsOf<$Schema, 'Mutation', 'updateProject'>;
export type Project = $.ObjectType<$Schema, 'Project'>;
export type Query = $.ObjectType<$Schema, 'Query'>;
export type QuerycompaniesArgs = $.ArgsOf<$Schema, 'Query', 'companies'>;
export type QuerycompanyArgs = $.ArgsOf<$Schema, 'Query', 'company'>;
export type QueryprojectArgs = $.ArgsOf<$Schema, 'Query', 'project'>;
export type QueryprojectsArgs = $.ArgsOf<$Schema, 'Query', 'projects'>;
export type QueryuserArgs = $.ArgsOf<$Schema, 'Query', 'user'>;
export type QueryusersArgs = $.ArgsOf<$Schema, 'Query', 'users'>;
/**
 * Somebody who signs in. Everybody signed in reads the name, each person alone reads their e-mail and changes their row.
 * Password and sessions stand elsewhere, where no query reaches them.
 */
export type User = $.ObjectType<$Schema, 'User'>;

export type CompanyResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Company'] = ResolversParentTypes['Company']> = $.ResolversOf<$Schema, 'Company', ContextType, ParentType>;
export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = $.ResolversOf<$Schema, 'Mutation', ContextType, ParentType>;
export type ProjectResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Project'] = ResolversParentTypes['Project']> = $.ResolversOf<$Schema, 'Project', ContextType, ParentType>;
export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = $.ResolversOf<$Schema, 'Query', ContextType, ParentType>;
export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User']> = $.ResolversOf<$Schema, 'User', ContextType, ParentType>;

export type Resolvers<ContextType = Context> = $.AllResolvers<$Schema, ContextType>;
