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
export type ArticleOverrides = ArticleResolvers;
export type ArticleAggregateOverrides = ArticleAggregateResolvers;
export type CommentOverrides = CommentResolvers;
export type MutationOverrides = MutationsOf<MutationResolvers>;
export type QueryOverrides = QueryResolvers;
export type TagOverrides = TagResolvers;
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
  articleFavoritedBy: {
    userId: string;
    articleId: string;
  };
  articleTags: {
    articleId: string;
    tagId: string;
  };
  articles: TableOf<ArticleRow, 'id'>;
  comments: TableOf<CommentRow, 'id'>;
  follows: {
    followerId: string;
    userId: string;
  };
  tags: TableOf<TagRow, 'id'>;
  users: TableOf<UserRow, 'id'>;
}

/** A row of `articles`: the fields that are columns, and the foreign keys. */
export interface ArticleRow {
  id: string;
  slug: string;
  title: string;
  description: string;
  body: string;
  authorId: string;
  createdAt: string;
  updatedAt: string;
}

/** A row of `comments`: the fields that are columns, and the foreign keys. */
export interface CommentRow {
  id: string;
  body: string;
  articleId: string;
  authorId: string;
  createdAt: string;
  updatedAt: string;
}

/** A row of `tags`: the fields that are columns, and the foreign keys. */
export interface TagRow {
  id: string;
  name: string;
}

/** A row of `users`: the fields that are columns, and the foreign keys. */
export interface UserRow {
  id: string;
  email: string;
  username: string;
  bio?: string | null;
  image?: string | null;
}

/** `ctx.data`: rows with the checks, rules and events of the API. */
export interface Data {
  readonly article: EntityData<ArticleShape>;
  readonly comment: EntityData<CommentShape>;
  readonly tag: EntityData<TagShape>;
  readonly user: EntityData<UserShape>;
}

/** What `ctx.data.article` takes and returns. */
export interface ArticleShape {
  row: ArticleRow;
  key: { id: string } | { slug: string };
  one: { author: UserShape };
  many: { tags: TagShape; comments: CommentShape; favoritedBy: UserShape };
  tally: { favorited: boolean; favoritesCount: number };
  times: 'createdAt' | 'updatedAt';
}

/** What `ctx.data.comment` takes and returns. */
export interface CommentShape {
  row: CommentRow;
  key: { id: string };
  one: { article: ArticleShape; author: UserShape };
  many: {};
  times: 'createdAt' | 'updatedAt';
}

/** What `ctx.data.tag` takes and returns. */
export interface TagShape {
  row: TagRow;
  key: { id: string } | { name: string };
  one: {};
  many: { articles: ArticleShape };
}

/** What `ctx.data.user` takes and returns. */
export interface UserShape {
  row: UserRow;
  key: { id: string } | { email: string } | { username: string };
  one: {};
  many: { follows: UserShape; followers: UserShape; articles: ArticleShape; favorites: ArticleShape };
  tally: { following: boolean };
}

// What the files of `src/hooks/` may hold.
export type ArticleHooks = HooksOf<{ shape: ArticleShape; context: Context; given: 'title' | 'description' | 'body'; demanded: 'slug'; extra: object }>;
export type CommentHooks = HooksOf<{ shape: CommentShape; context: Context; given: never; demanded: never; extra: object }>;
export type TagHooks = HooksOf<{ shape: TagShape; context: Context; given: 'name'; demanded: never; extra: object }>;
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
  enums: {
    Direction: Direction;
  };
  rows: {
    Article: ArticleRow;
    Comment: CommentRow;
    Tag: TagRow;
    User: UserRow;
  };
  fields: {
    Article: {
      author: 'User!';
      body: 'String!';
      comments: $.WithArgs<'[Comment!]!', { limit?: 'Int'; offset?: 'Int' }>;
      createdAt: 'DateTime!';
      description: 'String!';
      favorited: 'Boolean!';
      favoritedBy: $.WithArgs<'[User!]!', { limit?: 'Int'; offset?: 'Int' }>;
      favoritesCount: 'Int!';
      id: 'ID!';
      slug: 'String!';
      tags: $.WithArgs<'[Tag!]!', { limit?: 'Int'; offset?: 'Int' }>;
      title: 'String!';
      updatedAt: 'DateTime!';
    };
    ArticleAggregate: { count: 'Int!' };
    Comment: {
      article: 'Article!';
      author: 'User!';
      body: 'String!';
      createdAt: 'DateTime!';
      id: 'ID!';
      updatedAt: 'DateTime!';
    };
    Mutation: {
      createArticle: $.WithArgs<'Article!', { input: 'ArticleInput!' }>;
      deleteArticle: $.WithArgs<'Boolean!', { slug: 'String!' }>;
      updateArticle?: $.WithArgs<'Article', { input: 'ArticlePatch!'; slug: 'String!' }>;
    };
    Query: {
      article?: $.WithArgs<'Article', { slug: 'String!' }>;
      articles: $.WithArgs<'[Article!]!', {
        filter?: 'ArticleFilter';
        limit?: 'Int';
        offset?: 'Int';
        orderBy?: 'ArticleOrder';
      }>;
      articlesAggregate: $.WithArgs<'ArticleAggregate!', { filter?: 'ArticleFilter' }>;
      comment?: $.WithArgs<'Comment', { id: 'ID!' }>;
      comments: $.WithArgs<'[Comment!]!', { articleId: 'ID!'; limit?: 'Int'; offset?: 'Int'; orderBy?: 'CommentOrder' }>;
      tags: $.WithArgs<'[Tag!]!', { limit?: 'Int'; offset?: 'Int' }>;
      user?: $.WithArgs<'User', { username: 'String!' }>;
    };
    Tag: {
      articles: $.WithArgs<'[Article!]!', { limit?: 'Int'; offset?: 'Int' }>;
      id: 'ID!';
      name: 'String!';
    };
    User: {
      articles: $.WithArgs<'[Article!]!', { limit?: 'Int'; offset?: 'Int' }>;
      bio?: 'String';
      email: 'String!';
      favorites: $.WithArgs<'[Article!]!', { limit?: 'Int'; offset?: 'Int' }>;
      followers: $.WithArgs<'[User!]!', { limit?: 'Int'; offset?: 'Int' }>;
      following: 'Boolean!';
      follows: $.WithArgs<'[User!]!', { limit?: 'Int'; offset?: 'Int' }>;
      id: 'ID!';
      image?: 'String';
      username: 'String!';
    };
  };
  possible: {};
  inputs: {
    ArticleBody: { article: 'NewArticle!' };
    ArticleChange: {
      body?: 'String';
      description?: 'String';
      tagList?: '[String!]';
      title?: 'String';
    };
    ArticleChangeBody: { article: 'ArticleChange!' };
    ArticleFilter: {
      author?: 'UserFilter';
      favoritedBy?: 'UsersFilter';
      tags?: 'TagsFilter';
    };
    ArticleInput: {
      body: 'String!';
      description: 'String!';
      tags?: 'TagsInput';
      title: 'String!';
    };
    ArticleOrder: { createdAt?: 'Direction' };
    ArticlePatch: {
      body?: 'String';
      description?: 'String';
      tags?: 'TagsInput';
      title?: 'String';
    };
    ArticleQuery: {
      author?: 'String';
      favorited?: 'String';
      limit?: 'Int = 20';
      offset?: 'Int = 0';
      tag?: 'String';
    };
    CommentBody: { comment: 'NewComment!' };
    CommentOrder: $.OrderOf<$Schema, 'Comment', 'article' | 'author' | 'body' | 'id' | 'updatedAt'>;
    Login: {
      email: 'String!';
      password: 'String!';
    };
    LoginBody: { user: 'Login!' };
    NewArticle: {
      body: 'String!';
      description: 'String!';
      tagList?: '[String!]';
      title: 'String!';
    };
    NewComment: { body: 'String!' };
    NewTag: { name?: 'String' };
    Page: {
      limit?: 'Int = 20';
      offset?: 'Int = 0';
    };
    RegisterBody: { user: 'Registration!' };
    Registration: {
      email: 'String!';
      password: 'String!';
      username: 'String!';
    };
    TagFilter: { name?: 'TextFilter' };
    TagKey: { name: 'String!' };
    TagOrNew: {
      create: 'NewTag!';
      where: 'TagKey!';
    };
    TagsFilter: { some?: 'TagFilter' };
    TagsInput: {
      connectOrCreate?: '[TagOrNew!]';
      set?: '[TagKey!]';
    };
    TextFilter: { eq?: 'String' };
    UserBody: { user: 'UserChange!' };
    UserChange: {
      bio?: 'String';
      email?: 'String';
      image?: 'String';
      password?: 'String';
      username?: 'String';
    };
    UserFilter: {
      followers?: 'UsersFilter';
      id?: 'ID';
      username?: 'TextFilter';
    };
    UsersFilter: { some?: 'UserFilter' };
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

export type Article = $.ObjectType<$Schema, 'Article'>;
export type ArticlecommentsArgs = $.ArgsOf<$Schema, 'Article', 'comments'>;
export type ArticlefavoritedByArgs = $.ArgsOf<$Schema, 'Article', 'favoritedBy'>;
export type ArticletagsArgs = $.ArgsOf<$Schema, 'Article', 'tags'>;
export type ArticleAggregate = $.ObjectType<$Schema, 'ArticleAggregate'>;
export type ArticleBody = $.InputType<$Schema, 'ArticleBody'>;
export type ArticleChange = $.InputType<$Schema, 'ArticleChange'>;
export type ArticleChangeBody = $.InputType<$Schema, 'ArticleChangeBody'>;
export type ArticleFilter = $.InputType<$Schema, 'ArticleFilter'>;
export type ArticleInput = $.InputType<$Schema, 'ArticleInput'>;
export type ArticleOrder = $.InputType<$Schema, 'ArticleOrder'>;
export type ArticlePatch = $.InputType<$Schema, 'ArticlePatch'>;
export type ArticleQuery = $.InputType<$Schema, 'ArticleQuery'>;
export type Comment = $.ObjectType<$Schema, 'Comment'>;
export type CommentBody = $.InputType<$Schema, 'CommentBody'>;
export type CommentOrder = $.InputType<$Schema, 'CommentOrder'>;
export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}
export type Direction =
  | 'ASC'
  | 'DESC';
export type Login = $.InputType<$Schema, 'Login'>;
export type LoginBody = $.InputType<$Schema, 'LoginBody'>;
export type Mutation = $.ObjectType<$Schema, 'Mutation'>;
export type MutationcreateArticleArgs = $.ArgsOf<$Schema, 'Mutation', 'createArticle'>;
export type MutationdeleteArticleArgs = $.ArgsOf<$Schema, 'Mutation', 'deleteArticle'>;
export type MutationupdateArticleArgs = $.ArgsOf<$Schema, 'Mutation', 'updateArticle'>;
export type NewArticle = $.InputType<$Schema, 'NewArticle'>;
export type NewComment = $.InputType<$Schema, 'NewComment'>;
export type NewTag = $.InputType<$Schema, 'NewTag'>;
export type Page = $.InputType<$Schema, 'Page'>;
export type Query = $.ObjectType<$Schema, 'Query'>;
export type QueryarticleArgs = $.ArgsOf<$Schema, 'Query', 'article'>;
export type QueryarticlesArgs = $.ArgsOf<$Schema, 'Query', 'articles'>;
export type QueryarticlesAggregateArgs = $.ArgsOf<$Schema, 'Query', 'articlesAggregate'>;
export type QuerycommentArgs = $.ArgsOf<$Schema, 'Query', 'comment'>;
export type QuerycommentsArgs = $.ArgsOf<$Schema, 'Query', 'comments'>;
export type QuerytagsArgs = $.ArgsOf<$Schema, 'Query', 'tags'>;
export type QueryuserArgs = $.ArgsOf<$Schema, 'Query', 'user'>;
export type RegisterBody = $.InputType<$Schema, 'RegisterBody'>;
export type Registration = $.InputType<$Schema, 'Registration'>;
export type Tag = $.ObjectType<$Schema, 'Tag'>;
export type TagarticlesArgs = $.ArgsOf<$Schema, 'Tag', 'articles'>;
export type TagFilter = $.InputType<$Schema, 'TagFilter'>;
export type TagKey = $.InputType<$Schema, 'TagKey'>;
export type TagOrNew = $.InputType<$Schema, 'TagOrNew'>;
export type TagsFilter = $.InputType<$Schema, 'TagsFilter'>;
export type TagsInput = $.InputType<$Schema, 'TagsInput'>;
export type TextFilter = $.InputType<$Schema, 'TextFilter'>;
/**
 * Somebody who signs in. Name, biography and picture are for everybody. The address is for its owner alone:
 * `auth` in the manifest sees to that without a rule here.
 */
export type User = $.ObjectType<$Schema, 'User'>;
export type UserarticlesArgs = $.ArgsOf<$Schema, 'User', 'articles'>;
export type UserfavoritesArgs = $.ArgsOf<$Schema, 'User', 'favorites'>;
export type UserfollowersArgs = $.ArgsOf<$Schema, 'User', 'followers'>;
export type UserfollowsArgs = $.ArgsOf<$Schema, 'User', 'follows'>;
export type UserBody = $.InputType<$Schema, 'UserBody'>;
export type UserChange = $.InputType<$Schema, 'UserChange'>;
export type UserFilter = $.InputType<$Schema, 'UserFilter'>;
export type UsersFilter = $.InputType<$Schema, 'UsersFilter'>;

export type ArticleResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Article'] = ResolversParentTypes['Article']> = $.ResolversOf<$Schema, 'Article', ContextType, ParentType>;
export type ArticleAggregateResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ArticleAggregate'] = ResolversParentTypes['ArticleAggregate']> = $.ResolversOf<$Schema, 'ArticleAggregate', ContextType, ParentType>;
export type CommentResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Comment'] = ResolversParentTypes['Comment']> = $.ResolversOf<$Schema, 'Comment', ContextType, ParentType>;
export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = $.ResolversOf<$Schema, 'Mutation', ContextType, ParentType>;
export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = $.ResolversOf<$Schema, 'Query', ContextType, ParentType>;
export type TagResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Tag'] = ResolversParentTypes['Tag']> = $.ResolversOf<$Schema, 'Tag', ContextType, ParentType>;
export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User']> = $.ResolversOf<$Schema, 'User', ContextType, ParentType>;

export type Resolvers<ContextType = Context> = $.AllResolvers<$Schema, ContextType>;
