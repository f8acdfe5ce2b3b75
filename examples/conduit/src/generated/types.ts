// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { Auth as RuntimeAuth, AuthHooks as RuntimeAuthHooks, Extend as RuntimeExtend, Listeners as RuntimeListeners } from '@twofold/auth';
import type { Credential, EntityData, GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig, HooksOf, LoadersOf, MiddlewareOf, MutationsOf, RequestContext, RoutesOf, ScalarMapping, TableOf } from '@twofold/runtime';
import type { loaders } from './loaders.ts';

/** What a resolver gets as `ctx`. */
export type Context = RequestContext<Database, LoadersOf<typeof loaders>, Data, RuntimeAuth>;

/** The type of the function in `src/routes.ts`. */
export type Routes = RoutesOf<Context, Pick<
  ResolversTypes,
  | 'ArticleBody'
  | 'ArticleChange'
  | 'ArticleChangeBody'
  | 'ArticleFilter'
  | 'ArticleInput'
  | 'ArticleOrder'
  | 'ArticlePatch'
  | 'ArticleQuery'
  | 'CommentBody'
  | 'CommentOrder'
  | 'Login'
  | 'LoginBody'
  | 'NewArticle'
  | 'NewComment'
  | 'NewTag'
  | 'Page'
  | 'RegisterBody'
  | 'Registration'
  | 'TagFilter'
  | 'TagKey'
  | 'TagOrNew'
  | 'TagsFilter'
  | 'TagsInput'
  | 'TextFilter'
  | 'UserBody'
  | 'UserChange'
  | 'UserFilter'
  | 'UsersFilter'
>>;

/** The type of a function in `src/middleware.ts`. */
export type Middleware = MiddlewareOf<Context>;

/** What a file of `src/resolvers/` may implement of this type. */
export type ArticleOverrides = ArticleResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type ArticleAggregateOverrides = ArticleAggregateResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type CommentOverrides = CommentResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type MutationOverrides = MutationsOf<MutationResolvers>;

/** What a file of `src/resolvers/` may implement of this type. */
export type QueryOverrides = QueryResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type TagOverrides = TagResolvers;

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
  articleFavoritedBy: {
    userId: number | string;
    articleId: number | string;
  };
  articleTags: {
    articleId: number | string;
    tagId: number | string;
  };
  articles: TableOf<ArticleRow, 'id'>;
  comments: TableOf<CommentRow, 'id'>;
  follows: {
    followerId: number | string;
    userId: number | string;
  };
  tags: TableOf<TagRow, 'id'>;
  users: TableOf<UserRow, 'id'>;
}

/** A row of `articles`: the fields that are columns, and the foreign keys. */
export interface ArticleRow {
  id: number | string;
  slug: string;
  title: string;
  description: string;
  body: string;
  authorId: number | string;
  createdAt: string;
  updatedAt: string;
}

/** A row of `comments`: the fields that are columns, and the foreign keys. */
export interface CommentRow {
  id: number | string;
  body: string;
  articleId: number | string;
  authorId: number | string;
  createdAt: string;
  updatedAt: string;
}

/** A row of `tags`: the fields that are columns, and the foreign keys. */
export interface TagRow {
  id: number | string;
  name: string;
}

/** A row of `users`: the fields that are columns, and the foreign keys. */
export interface UserRow {
  id: number | string;
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
  key: { id: number | string } | { slug: string };
  one: { author: UserShape };
  many: { tags: TagShape; comments: CommentShape; favoritedBy: UserShape };
  tally: { favorited: boolean; favoritesCount: number };
}

/** What `ctx.data.comment` takes and returns. */
export interface CommentShape {
  row: CommentRow;
  key: { id: number | string };
  one: { article: ArticleShape; author: UserShape };
  many: {};
}

/** What `ctx.data.tag` takes and returns. */
export interface TagShape {
  row: TagRow;
  key: { id: number | string } | { name: string };
  one: {};
  many: { articles: ArticleShape };
}

/** What `ctx.data.user` takes and returns. */
export interface UserShape {
  row: UserRow;
  key: { id: number | string } | { email: string } | { username: string };
  one: {};
  many: { follows: UserShape; followers: UserShape; articles: ArticleShape; favorites: ArticleShape };
  tally: { following: boolean };
}

/** What `src/hooks/Article.ts` may hold. */
export type ArticleHooks = HooksOf<{ shape: ArticleShape; context: Context; given: 'title' | 'description' | 'body'; demanded: 'slug'; extra: object }>;

/** What `src/hooks/Comment.ts` may hold. */
export type CommentHooks = HooksOf<{ shape: CommentShape; context: Context; given: never; demanded: never; extra: object }>;

/** What `src/hooks/Tag.ts` may hold. */
export type TagHooks = HooksOf<{ shape: TagShape; context: Context; given: 'name'; demanded: never; extra: object }>;

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

export type Article = {
  author: User;
  body: ScalarTypes['String']['output'];
  comments: Array<Comment>;
  createdAt: ScalarTypes['DateTime']['output'];
  description: ScalarTypes['String']['output'];
  favorited: ScalarTypes['Boolean']['output'];
  favoritedBy: Array<User>;
  favoritesCount: ScalarTypes['Int']['output'];
  id: ScalarTypes['ID']['output'];
  slug: ScalarTypes['String']['output'];
  tags: Array<Tag>;
  title: ScalarTypes['String']['output'];
  updatedAt: ScalarTypes['DateTime']['output'];
};

export type ArticleAggregate = {
  count: ScalarTypes['Int']['output'];
};

export type ArticleBody = {
  article: NewArticle;
};

export type ArticleChange = {
  body?: InputMaybe<ScalarTypes['String']['input']>;
  description?: InputMaybe<ScalarTypes['String']['input']>;
  tagList?: InputMaybe<Array<ScalarTypes['String']['input']>>;
  title?: InputMaybe<ScalarTypes['String']['input']>;
};

export type ArticleChangeBody = {
  article: ArticleChange;
};

export type ArticleFilter = {
  author?: InputMaybe<UserFilter>;
  favoritedBy?: InputMaybe<UsersFilter>;
  tags?: InputMaybe<TagsFilter>;
};

export type ArticleInput = {
  body: ScalarTypes['String']['input'];
  description: ScalarTypes['String']['input'];
  tags?: InputMaybe<TagsInput>;
  title: ScalarTypes['String']['input'];
};

export type ArticleOrder = {
  createdAt?: InputMaybe<Direction>;
};

export type ArticlePatch = {
  body?: InputMaybe<ScalarTypes['String']['input']>;
  description?: InputMaybe<ScalarTypes['String']['input']>;
  tags?: InputMaybe<TagsInput>;
  title?: InputMaybe<ScalarTypes['String']['input']>;
};

export type ArticleQuery = {
  author?: InputMaybe<ScalarTypes['String']['input']>;
  favorited?: InputMaybe<ScalarTypes['String']['input']>;
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
  tag?: InputMaybe<ScalarTypes['String']['input']>;
};

export type Comment = {
  article: Article;
  author: User;
  body: ScalarTypes['String']['output'];
  createdAt: ScalarTypes['DateTime']['output'];
  id: ScalarTypes['ID']['output'];
  updatedAt: ScalarTypes['DateTime']['output'];
};

export type CommentBody = {
  comment: NewComment;
};

export type CommentOrder = {
  createdAt?: InputMaybe<Direction>;
};

export type Direction =
  | 'ASC'
  | 'DESC';

export type Login = {
  email: ScalarTypes['String']['input'];
  password: ScalarTypes['String']['input'];
};

export type LoginBody = {
  user: Login;
};

export type Mutation = {
  createArticle: Article;
  deleteArticle: ScalarTypes['Boolean']['output'];
  updateArticle?: Maybe<Article>;
};

export type MutationcreateArticleArgs = {
  input: ArticleInput;
};

export type MutationdeleteArticleArgs = {
  slug: ScalarTypes['String']['input'];
};

export type MutationupdateArticleArgs = {
  input: ArticlePatch;
  slug: ScalarTypes['String']['input'];
};

export type NewArticle = {
  body: ScalarTypes['String']['input'];
  description: ScalarTypes['String']['input'];
  tagList?: InputMaybe<Array<ScalarTypes['String']['input']>>;
  title: ScalarTypes['String']['input'];
};

export type NewComment = {
  body: ScalarTypes['String']['input'];
};

export type NewTag = {
  name?: InputMaybe<ScalarTypes['String']['input']>;
};

export type Page = {
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
};

export type Query = {
  article?: Maybe<Article>;
  articles: Array<Article>;
  articlesAggregate: ArticleAggregate;
  comment?: Maybe<Comment>;
  comments: Array<Comment>;
  tags: Array<Tag>;
  user?: Maybe<User>;
};

export type QueryarticleArgs = {
  slug: ScalarTypes['String']['input'];
};

export type QueryarticlesArgs = {
  filter?: InputMaybe<ArticleFilter>;
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
  orderBy?: InputMaybe<ArticleOrder>;
};

export type QueryarticlesAggregateArgs = {
  filter?: InputMaybe<ArticleFilter>;
};

export type QuerycommentArgs = {
  id: ScalarTypes['ID']['input'];
};

export type QuerycommentsArgs = {
  articleId: ScalarTypes['ID']['input'];
  orderBy?: InputMaybe<CommentOrder>;
};

export type QueryuserArgs = {
  username: ScalarTypes['String']['input'];
};

export type RegisterBody = {
  user: Registration;
};

export type Registration = {
  email: ScalarTypes['String']['input'];
  password: ScalarTypes['String']['input'];
  username: ScalarTypes['String']['input'];
};

export type Tag = {
  articles: Array<Article>;
  id: ScalarTypes['ID']['output'];
  name: ScalarTypes['String']['output'];
};

export type TagFilter = {
  name?: InputMaybe<TextFilter>;
};

export type TagKey = {
  name: ScalarTypes['String']['input'];
};

export type TagOrNew = {
  create: NewTag;
  where: TagKey;
};

export type TagsFilter = {
  some?: InputMaybe<TagFilter>;
};

export type TagsInput = {
  connectOrCreate?: InputMaybe<Array<TagOrNew>>;
  set?: InputMaybe<Array<TagKey>>;
};

export type TextFilter = {
  eq?: InputMaybe<ScalarTypes['String']['input']>;
};

/**
 * Somebody who signs in. Name, biography and picture are for everybody. The address is for its owner alone:
 * `auth` in the manifest sees to that without a rule here.
 */
export type User = {
  articles: Array<Article>;
  bio?: Maybe<ScalarTypes['String']['output']>;
  email: ScalarTypes['String']['output'];
  favorites: Array<Article>;
  followers: Array<User>;
  following: ScalarTypes['Boolean']['output'];
  follows: Array<User>;
  id: ScalarTypes['ID']['output'];
  image?: Maybe<ScalarTypes['String']['output']>;
  username: ScalarTypes['String']['output'];
};

export type UserBody = {
  user: UserChange;
};

export type UserChange = {
  bio?: InputMaybe<ScalarTypes['String']['input']>;
  email?: InputMaybe<ScalarTypes['String']['input']>;
  image?: InputMaybe<ScalarTypes['String']['input']>;
  password?: InputMaybe<ScalarTypes['String']['input']>;
  username?: InputMaybe<ScalarTypes['String']['input']>;
};

export type UserFilter = {
  followers?: InputMaybe<UsersFilter>;
  id?: InputMaybe<ScalarTypes['ID']['input']>;
  username?: InputMaybe<TextFilter>;
};

export type UsersFilter = {
  some?: InputMaybe<UserFilter>;
};

/** Arguments, of which these are never absent: they are required or have a default. */
export type RequireFields<T, K extends keyof T> = T & { [P in K]-?: NonNullable<T[P]> };

/** The result of a resolver: a value, or a promise of one. */
export type ResolverTypeWrapper<T> = Promise<T> | T;

/** The resolver of one field. */
export type Resolver<Result, Parent, ContextType, Args = Record<PropertyKey, never>> = (parent: Parent, args: Args, ctx: ContextType, info: GraphQLResolveInfo) => Promise<Result> | Result;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Article: ResolverTypeWrapper<ArticleRow>;
  ArticleAggregate: ResolverTypeWrapper<ArticleAggregate>;
  ArticleBody: ArticleBody;
  ArticleChange: ArticleChange;
  ArticleChangeBody: ArticleChangeBody;
  ArticleFilter: ArticleFilter;
  ArticleInput: ArticleInput;
  ArticleOrder: ArticleOrder;
  ArticlePatch: ArticlePatch;
  ArticleQuery: ArticleQuery;
  Boolean: ResolverTypeWrapper<ScalarTypes['Boolean']['output']>;
  Comment: ResolverTypeWrapper<CommentRow>;
  CommentBody: CommentBody;
  CommentOrder: CommentOrder;
  DateTime: ResolverTypeWrapper<ScalarTypes['DateTime']['output']>;
  Direction: Direction;
  ID: ResolverTypeWrapper<ScalarTypes['ID']['output']>;
  Int: ResolverTypeWrapper<ScalarTypes['Int']['output']>;
  Login: Login;
  LoginBody: LoginBody;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  NewArticle: NewArticle;
  NewComment: NewComment;
  NewTag: NewTag;
  Page: Page;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  RegisterBody: RegisterBody;
  Registration: Registration;
  String: ResolverTypeWrapper<ScalarTypes['String']['output']>;
  Tag: ResolverTypeWrapper<TagRow>;
  TagFilter: TagFilter;
  TagKey: TagKey;
  TagOrNew: TagOrNew;
  TagsFilter: TagsFilter;
  TagsInput: TagsInput;
  TextFilter: TextFilter;
  User: ResolverTypeWrapper<UserRow>;
  UserBody: UserBody;
  UserChange: UserChange;
  UserFilter: UserFilter;
  UsersFilter: UsersFilter;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Article: ArticleRow;
  ArticleAggregate: ArticleAggregate;
  ArticleBody: ArticleBody;
  ArticleChange: ArticleChange;
  ArticleChangeBody: ArticleChangeBody;
  ArticleFilter: ArticleFilter;
  ArticleInput: ArticleInput;
  ArticleOrder: ArticleOrder;
  ArticlePatch: ArticlePatch;
  ArticleQuery: ArticleQuery;
  Boolean: ScalarTypes['Boolean']['output'];
  Comment: CommentRow;
  CommentBody: CommentBody;
  CommentOrder: CommentOrder;
  DateTime: ScalarTypes['DateTime']['output'];
  ID: ScalarTypes['ID']['output'];
  Int: ScalarTypes['Int']['output'];
  Login: Login;
  LoginBody: LoginBody;
  Mutation: Record<PropertyKey, never>;
  NewArticle: NewArticle;
  NewComment: NewComment;
  NewTag: NewTag;
  Page: Page;
  Query: Record<PropertyKey, never>;
  RegisterBody: RegisterBody;
  Registration: Registration;
  String: ScalarTypes['String']['output'];
  Tag: TagRow;
  TagFilter: TagFilter;
  TagKey: TagKey;
  TagOrNew: TagOrNew;
  TagsFilter: TagsFilter;
  TagsInput: TagsInput;
  TextFilter: TextFilter;
  User: UserRow;
  UserBody: UserBody;
  UserChange: UserChange;
  UserFilter: UserFilter;
  UsersFilter: UsersFilter;
};

export type ArticleResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Article'] = ResolversParentTypes['Article']> = {
  author?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  body?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  comments?: Resolver<Array<ResolversTypes['Comment']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  description?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  favorited?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  favoritedBy?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
  favoritesCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  slug?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  tags?: Resolver<Array<ResolversTypes['Tag']>, ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type ArticleAggregateResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ArticleAggregate'] = ResolversParentTypes['ArticleAggregate']> = {
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type CommentResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Comment'] = ResolversParentTypes['Comment']> = {
  article?: Resolver<ResolversTypes['Article'], ParentType, ContextType>;
  author?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  body?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createArticle?: Resolver<ResolversTypes['Article'], ParentType, ContextType, RequireFields<MutationcreateArticleArgs, 'input'>>;
  deleteArticle?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationdeleteArticleArgs, 'slug'>>;
  updateArticle?: Resolver<Maybe<ResolversTypes['Article']>, ParentType, ContextType, RequireFields<MutationupdateArticleArgs, 'input' | 'slug'>>;
};

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  article?: Resolver<Maybe<ResolversTypes['Article']>, ParentType, ContextType, RequireFields<QueryarticleArgs, 'slug'>>;
  articles?: Resolver<Array<ResolversTypes['Article']>, ParentType, ContextType, Partial<QueryarticlesArgs>>;
  articlesAggregate?: Resolver<ResolversTypes['ArticleAggregate'], ParentType, ContextType, Partial<QueryarticlesAggregateArgs>>;
  comment?: Resolver<Maybe<ResolversTypes['Comment']>, ParentType, ContextType, RequireFields<QuerycommentArgs, 'id'>>;
  comments?: Resolver<Array<ResolversTypes['Comment']>, ParentType, ContextType, RequireFields<QuerycommentsArgs, 'articleId'>>;
  tags?: Resolver<Array<ResolversTypes['Tag']>, ParentType, ContextType>;
  user?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType, RequireFields<QueryuserArgs, 'username'>>;
};

export type TagResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Tag'] = ResolversParentTypes['Tag']> = {
  articles?: Resolver<Array<ResolversTypes['Article']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User']> = {
  articles?: Resolver<Array<ResolversTypes['Article']>, ParentType, ContextType>;
  bio?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  favorites?: Resolver<Array<ResolversTypes['Article']>, ParentType, ContextType>;
  followers?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
  following?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  follows?: Resolver<Array<ResolversTypes['User']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  image?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  username?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type Resolvers<ContextType = Context> = {
  Article?: ArticleResolvers<ContextType>;
  ArticleAggregate?: ArticleAggregateResolvers<ContextType>;
  Comment?: CommentResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  Mutation?: MutationResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Tag?: TagResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
};
