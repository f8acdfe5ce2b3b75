// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { Auth as RuntimeAuth, AuthHooks as RuntimeAuthHooks, Extend as RuntimeExtend, Listeners as RuntimeListeners } from '@twofold/auth';
import type { Credential, EntityData, GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig, HooksOf, LoadersOf, MiddlewareOf, MutationsOf, RequestContext, RoutesOf, ScalarMapping, TableOf } from '@twofold/runtime';
import type { loaders } from './loaders.ts';

/** What a resolver gets as `ctx`. */
export type Context = RequestContext<Database, LoadersOf<typeof loaders>, Data, RuntimeAuth>;

/** The type of the function in `src/routes.ts`. */
export type Routes = RoutesOf<Context, Pick<
  ResolversTypes,
  | 'CreateProjectInput'
>>;

/** The type of a function in `src/middleware.ts`. */
export type Middleware = MiddlewareOf<Context>;

/** What a file of `src/resolvers/` may implement of this type. */
export type CompanyOverrides = CompanyResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type MutationOverrides = MutationsOf<MutationResolvers>;

/** What a file of `src/resolvers/` may implement of this type. */
export type ProjectOverrides = ProjectResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type QueryOverrides = QueryResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
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
  id: number | string;
  name: string;
  ownerId: number | string;
}

/** A row of `projects`: the fields that are columns, and the foreign keys. */
export interface ProjectRow {
  id: number | string;
  title: string;
  done: boolean;
  companyId: number | string;
  ownerId: number | string;
  createdAt: string;
}

/** A row of `users`: the fields that are columns, and the foreign keys. */
export interface UserRow {
  id: number | string;
  name: string;
  email: string;
  companyId?: number | string | null;
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
  key: { id: number | string };
  one: { owner: UserShape };
  many: { employees: UserShape; projects: ProjectShape };
}

/** What `ctx.data.project` takes and returns. */
export interface ProjectShape {
  row: ProjectRow;
  key: { id: number | string };
  one: { company: CompanyShape; owner: UserShape };
  many: {};
}

/** What `ctx.data.user` takes and returns. */
export interface UserShape {
  row: UserRow;
  key: { id: number | string } | { email: string };
  one: { company: CompanyShape };
  many: {};
}

/** What `src/hooks/Company.ts` may hold. */
export type CompanyHooks = HooksOf<{ shape: CompanyShape; context: Context; given: 'name'; demanded: never; extra: object }>;

/** What `src/hooks/Project.ts` may hold. */
export type ProjectHooks = HooksOf<{ shape: ProjectShape; context: Context; given: 'title' | 'companyId'; demanded: never; extra: object }>;

/** What `src/hooks/User.ts` may hold. */
export type UserHooks = HooksOf<{ shape: UserShape; context: Context; given: never; demanded: never; extra: object }>;

export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
/** All built-in and custom scalars, mapped to their actual values */
export type ScalarTypes = {
  ID: { input: string; output: string | number; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  DateTime: { input: string; output: string; }
};

/** What people work for. It belongs to the person who made it, and only the roles below may read or change it besides. */
export type Company = {
  employees: Array<User>;
  id: ScalarTypes['ID']['output'];
  name: ScalarTypes['String']['output'];
  owner: User;
  projects: Array<Project>;
};

export type CreateProjectInput = {
  companyId: ScalarTypes['ID']['input'];
  title: ScalarTypes['String']['input'];
};

export type Mutation = {
  createCompany: Company;
  createProject: Project;
  deleteProject: ScalarTypes['Boolean']['output'];
  joinCompany: User;
  updateProject?: Maybe<Project>;
};

export type MutationcreateCompanyArgs = {
  name: ScalarTypes['String']['input'];
};

export type MutationcreateProjectArgs = {
  input: CreateProjectInput;
};

export type MutationdeleteProjectArgs = {
  id: ScalarTypes['ID']['input'];
};

export type MutationjoinCompanyArgs = {
  companyId: ScalarTypes['ID']['input'];
};

export type MutationupdateProjectArgs = {
  done?: InputMaybe<ScalarTypes['Boolean']['input']>;
  id: ScalarTypes['ID']['input'];
  title?: InputMaybe<ScalarTypes['String']['input']>;
};

export type Project = {
  company: Company;
  createdAt: ScalarTypes['DateTime']['output'];
  done: ScalarTypes['Boolean']['output'];
  id: ScalarTypes['ID']['output'];
  owner: User;
  title: ScalarTypes['String']['output'];
};

export type Query = {
  companies: Array<Company>;
  company?: Maybe<Company>;
  project?: Maybe<Project>;
  projects: Array<Project>;
  user?: Maybe<User>;
  users: Array<User>;
};

export type QuerycompaniesArgs = {
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
};

export type QuerycompanyArgs = {
  id: ScalarTypes['ID']['input'];
};

export type QueryprojectArgs = {
  id: ScalarTypes['ID']['input'];
};

export type QueryprojectsArgs = {
  done?: InputMaybe<ScalarTypes['Boolean']['input']>;
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
};

export type QueryuserArgs = {
  id: ScalarTypes['ID']['input'];
};

export type QueryusersArgs = {
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
};

/**
 * Somebody who signs in. Everybody signed in reads the name, each person alone reads their e-mail and changes their row.
 * Password and sessions stand elsewhere, where no query reaches them.
 */
export type User = {
  company?: Maybe<Company>;
  email: ScalarTypes['String']['output'];
  id: ScalarTypes['ID']['output'];
  name: ScalarTypes['String']['output'];
};

/** Arguments, of which these are never absent: they are required or have a default. */
export type RequireFields<T, K extends keyof T> = T & { [P in K]-?: NonNullable<T[P]> };

/** The result of a resolver: a value, or a promise of one. */
export type ResolverTypeWrapper<T> = Promise<T> | T;

/** The resolver of one field. */
export type Resolver<Result, Parent, ContextType, Args = Record<PropertyKey, never>> = (parent: Parent, args: Args, ctx: ContextType, info: GraphQLResolveInfo) => Promise<Result> | Result;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Boolean: ResolverTypeWrapper<ScalarTypes['Boolean']['output']>;
  Company: ResolverTypeWrapper<CompanyRow>;
  CreateProjectInput: CreateProjectInput;
  DateTime: ResolverTypeWrapper<ScalarTypes['DateTime']['output']>;
  ID: ResolverTypeWrapper<ScalarTypes['ID']['output']>;
  Int: ResolverTypeWrapper<ScalarTypes['Int']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Project: ResolverTypeWrapper<ProjectRow>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  String: ResolverTypeWrapper<ScalarTypes['String']['output']>;
  User: ResolverTypeWrapper<UserRow>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Boolean: ScalarTypes['Boolean']['output'];
  Company: CompanyRow;
  CreateProjectInput: CreateProjectInput;
  DateTime: ScalarTypes['DateTime']['output'];
  ID: ScalarTypes['ID']['output'];
  Int: ScalarTypes['Int']['output'];
  Mutation: Record<PropertyKey, never>;
  Project: ProjectRow;
  Query: Record<PropertyKey, never>;
  String: ScalarTypes['String']['output'];
  User: UserRow;
};

export type CompanyResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Company'] = ResolversParentTypes['Company']> = {
  employees?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  owner?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  projects?: Resolver<Array<ResolversTypes['Project']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createCompany?: Resolver<ResolversTypes['Company'], ParentType, ContextType, RequireFields<MutationcreateCompanyArgs, 'name'>>;
  createProject?: Resolver<ResolversTypes['Project'], ParentType, ContextType, RequireFields<MutationcreateProjectArgs, 'input'>>;
  deleteProject?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationdeleteProjectArgs, 'id'>>;
  joinCompany?: Resolver<ResolversTypes['User'], ParentType, ContextType, RequireFields<MutationjoinCompanyArgs, 'companyId'>>;
  updateProject?: Resolver<Maybe<ResolversTypes['Project']>, ParentType, ContextType, RequireFields<MutationupdateProjectArgs, 'id'>>;
};

export type ProjectResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Project'] = ResolversParentTypes['Project']> = {
  company?: Resolver<ResolversTypes['Company'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  done?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  owner?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  companies?: Resolver<Array<ResolversTypes['Company']>, ParentType, ContextType, Partial<QuerycompaniesArgs>>;
  company?: Resolver<Maybe<ResolversTypes['Company']>, ParentType, ContextType, RequireFields<QuerycompanyArgs, 'id'>>;
  project?: Resolver<Maybe<ResolversTypes['Project']>, ParentType, ContextType, RequireFields<QueryprojectArgs, 'id'>>;
  projects?: Resolver<Array<ResolversTypes['Project']>, ParentType, ContextType, Partial<QueryprojectsArgs>>;
  user?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType, RequireFields<QueryuserArgs, 'id'>>;
  users?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType, Partial<QueryusersArgs>>;
};

export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User']> = {
  company?: Resolver<Maybe<ResolversTypes['Company']>, ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type Resolvers<ContextType = Context> = {
  Company?: CompanyResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  Mutation?: MutationResolvers<ContextType>;
  Project?: ProjectResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
};
