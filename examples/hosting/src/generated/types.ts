// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { EntityData, GraphQLResolveInfo, HooksOf, LoadersOf, MiddlewareOf, MutationsOf, RequestContext, RoutesOf, ScalarMapping, TableOf } from '@twofold/runtime';
import type { loaders } from './loaders.ts';

/** What a resolver gets as `ctx`. */
export type Context = RequestContext<Database, LoadersOf<typeof loaders>, Data>;

/** The type of the function in `src/routes.ts`. */
export type Routes = RoutesOf<Context, object>;

/** The type of a function in `src/middleware.ts`. */
export type Middleware = MiddlewareOf<Context>;

/** What a file of `src/resolvers/` may implement of this type. */
export type HostedAppOverrides = HostedAppResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type MutationOverrides = MutationsOf<MutationResolvers>;

/** What a file of `src/resolvers/` may implement of this type. */
export type QueryOverrides = QueryResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type TeamOverrides = TeamResolvers;

/** The type of the table in `src/scalars.ts`. */
export type Scalars = Readonly<Record<string, ScalarMapping>>;

/** The tables of `ctx.db`, with the names of the schema. */
export interface Database {
  hostedApps: TableOf<HostedAppRow, 'id'>;
  teams: TableOf<TeamRow, 'id'>;
}

/** A row of `hosted_apps`: the fields that are columns, and the foreign keys. */
export interface HostedAppRow {
  id: number | string;
  name: string;
  teamId?: number | string | null;
}

/** A row of `teams`: the fields that are columns, and the foreign keys. */
export interface TeamRow {
  id: number | string;
  name: string;
}

/** `ctx.data`: rows with the checks, rules and events of the API. */
export interface Data {
  readonly hostedApp: EntityData<HostedAppShape>;
  readonly team: EntityData<TeamShape>;
}

/** What `ctx.data.hostedApp` takes and returns. */
export interface HostedAppShape {
  row: HostedAppRow;
  key: { id: number | string } | { name: string };
  one: { team: TeamShape };
  many: {};
}

/** What `ctx.data.team` takes and returns. */
export interface TeamShape {
  row: TeamRow;
  key: { id: number | string } | { name: string };
  one: {};
  many: { apps: HostedAppShape };
}

/** What `src/hooks/HostedApp.ts` may hold. */
export type HostedAppHooks = HooksOf<{ shape: HostedAppShape; context: Context; given: 'name'; demanded: never; extra: object }>;

/** What `src/hooks/Team.ts` may hold. */
export type TeamHooks = HooksOf<{ shape: TeamShape; context: Context; given: 'name'; demanded: never; extra: object }>;

export type Maybe<T> = T | null;
export type InputMaybe<T> = T | null | undefined;
/** All built-in and custom scalars, mapped to their actual values */
export type ScalarTypes = {
  ID: { input: string; output: string | number; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
};

/** A hosted app. The hosting API identifies it by its name. */
export type HostedApp = {
  id: ScalarTypes['ID']['output'];
  name: ScalarTypes['String']['output'];
  team?: Maybe<Team>;
};

export type Mutation = {
  createHostedApp: HostedApp;
  createTeam: Team;
  deleteHostedApp: ScalarTypes['Boolean']['output'];
};

export type MutationcreateHostedAppArgs = {
  name: ScalarTypes['String']['input'];
  teamId?: InputMaybe<ScalarTypes['ID']['input']>;
};

export type MutationcreateTeamArgs = {
  name: ScalarTypes['String']['input'];
};

export type MutationdeleteHostedAppArgs = {
  id: ScalarTypes['ID']['input'];
};

export type Query = {
  hostedApps: Array<HostedApp>;
  team?: Maybe<Team>;
  teams: Array<Team>;
};

export type QueryteamArgs = {
  id: ScalarTypes['ID']['input'];
};

/** The team that an app belongs to. */
export type Team = {
  apps: Array<HostedApp>;
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
  HostedApp: ResolverTypeWrapper<HostedAppRow>;
  ID: ResolverTypeWrapper<ScalarTypes['ID']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  String: ResolverTypeWrapper<ScalarTypes['String']['output']>;
  Team: ResolverTypeWrapper<TeamRow>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Boolean: ScalarTypes['Boolean']['output'];
  HostedApp: HostedAppRow;
  ID: ScalarTypes['ID']['output'];
  Mutation: Record<PropertyKey, never>;
  Query: Record<PropertyKey, never>;
  String: ScalarTypes['String']['output'];
  Team: TeamRow;
};

export type HostedAppResolvers<ContextType = Context, ParentType extends ResolversParentTypes['HostedApp'] = ResolversParentTypes['HostedApp']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  team?: Resolver<Maybe<ResolversTypes['Team']>, ParentType, ContextType>;
};

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createHostedApp?: Resolver<ResolversTypes['HostedApp'], ParentType, ContextType, RequireFields<MutationcreateHostedAppArgs, 'name'>>;
  createTeam?: Resolver<ResolversTypes['Team'], ParentType, ContextType, RequireFields<MutationcreateTeamArgs, 'name'>>;
  deleteHostedApp?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationdeleteHostedAppArgs, 'id'>>;
};

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  hostedApps?: Resolver<Array<ResolversTypes['HostedApp']>, ParentType, ContextType>;
  team?: Resolver<Maybe<ResolversTypes['Team']>, ParentType, ContextType, RequireFields<QueryteamArgs, 'id'>>;
  teams?: Resolver<Array<ResolversTypes['Team']>, ParentType, ContextType>;
};

export type TeamResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Team'] = ResolversParentTypes['Team']> = {
  apps?: Resolver<Array<ResolversTypes['HostedApp']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type Resolvers<ContextType = Context> = {
  HostedApp?: HostedAppResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Team?: TeamResolvers<ContextType>;
};
