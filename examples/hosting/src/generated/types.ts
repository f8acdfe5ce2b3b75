// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { EntityData, HooksOf, LoadersOf, MiddlewareOf, MutationsOf, RequestContext, RoutesOf, ScalarMapping, TableOf } from '@twofold/runtime';
import type { schemaTypes as $ } from '@twofold/schema';
import type { loaders } from './loaders.ts';

/** What a resolver gets as `ctx`. */
export type Context = RequestContext<Database, LoadersOf<typeof loaders>, Data>;

/** The type of the function in `src/routes.ts`. */
export type Routes = RoutesOf<Context, $.InputTypes<$Schema>>;

/** The type of a function in `src/middleware.ts`. */
export type Middleware = MiddlewareOf<Context>;

// What the files of `src/resolvers/` may implement of each type.
export type HostedAppOverrides = HostedAppResolvers;
export type MutationOverrides = MutationsOf<MutationResolvers>;
export type QueryOverrides = QueryResolvers;
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
  id: string;
  name: string;
  teamId?: string | null;
}

/** A row of `teams`: the fields that are columns, and the foreign keys. */
export interface TeamRow {
  id: string;
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
  key: { id: string } | { name: string };
  one: { team: TeamShape };
  many: {};
}

/** What `ctx.data.team` takes and returns. */
export interface TeamShape {
  row: TeamRow;
  key: { id: string } | { name: string };
  one: {};
  many: { apps: HostedAppShape };
}

// What the files of `src/hooks/` may hold.
export type HostedAppHooks = HooksOf<{ shape: HostedAppShape; context: Context; given: 'name'; demanded: never; extra: object }>;
export type TeamHooks = HooksOf<{ shape: TeamShape; context: Context; given: 'name'; demanded: never; extra: object }>;

/** All built-in and custom scalars, mapped to their actual values */
export type ScalarTypes = {
  ID: { input: string; output: string | number; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
};

/**
 * The schema, with references as the SDL writes them: the types below follow from it.
 */
export interface $Schema {
  scalars: ScalarTypes;
  enums: {};
  rows: {
    HostedApp: HostedAppRow;
    Team: TeamRow;
  };
  fields: {
    HostedApp: {
      id: 'ID!';
      name: 'String!';
      team?: 'Team';
    };
    Mutation: {
      createHostedApp: $.WithArgs<'HostedApp!', { name: 'String!'; teamId?: 'ID' }>;
      createTeam: $.WithArgs<'Team!', { name: 'String!' }>;
      deleteHostedApp: $.WithArgs<'Boolean!', { id: 'ID!' }>;
    };
    Query: {
      hostedApps: $.WithArgs<'[HostedApp!]!', { limit?: 'Int'; offset?: 'Int' }>;
      team?: $.WithArgs<'Team', { id: 'ID!' }>;
      teams: $.WithArgs<'[Team!]!', { limit?: 'Int'; offset?: 'Int' }>;
    };
    Team: {
      apps: $.WithArgs<'[HostedApp!]!', { limit?: 'Int'; offset?: 'Int' }>;
      id: 'ID!';
      name: 'String!';
    };
  };
  possible: {};
  inputs: {};
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

/** A hosted app. The hosting API identifies it by its name. */
export type HostedApp = $.ObjectType<$Schema, 'HostedApp'>;
export type Mutation = $.ObjectType<$Schema, 'Mutation'>;
export type MutationcreateHostedAppArgs = $.ArgsOf<$Schema, 'Mutation', 'createHostedApp'>;
export type MutationcreateTeamArgs = $.ArgsOf<$Schema, 'Mutation', 'createTeam'>;
export type MutationdeleteHostedAppArgs = $.ArgsOf<$Schema, 'Mutation', 'deleteHostedApp'>;
export type Query = $.ObjectType<$Schema, 'Query'>;
export type QueryhostedAppsArgs = $.ArgsOf<$Schema, 'Query', 'hostedApps'>;
export type QueryteamArgs = $.ArgsOf<$Schema, 'Query', 'team'>;
export type QueryteamsArgs = $.ArgsOf<$Schema, 'Query', 'teams'>;
/** The team that an app belongs to. */
export type Team = $.ObjectType<$Schema, 'Team'>;
export type TeamappsArgs = $.ArgsOf<$Schema, 'Team', 'apps'>;

export type HostedAppResolvers<ContextType = Context, ParentType extends ResolversParentTypes['HostedApp'] = ResolversParentTypes['HostedApp']> = $.ResolversOf<$Schema, 'HostedApp', ContextType, ParentType>;
export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = $.ResolversOf<$Schema, 'Mutation', ContextType, ParentType>;
export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = $.ResolversOf<$Schema, 'Query', ContextType, ParentType>;
export type TeamResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Team'] = ResolversParentTypes['Team']> = $.ResolversOf<$Schema, 'Team', ContextType, ParentType>;

export type Resolvers<ContextType = Context> = $.AllResolvers<$Schema, ContextType>;
