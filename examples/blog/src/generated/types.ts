// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import type { EntityData, GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig, HooksOf, LoadersOf, MiddlewareOf, MutationsOf, RequestContext, RoutesOf, ScalarMapping, TableOf } from '@twofold/runtime';
import type { loaders } from './loaders.ts';

/** What a resolver gets as `ctx`. */
export type Context = RequestContext<Database, LoadersOf<typeof loaders>, Data>;

/** The type of the function in `src/routes.ts`. */
export type Routes = RoutesOf<Context, Pick<
  ResolversTypes,
  | 'CreatePostInput'
  | 'UpdatePostInput'
>>;

/** The type of a function in `src/middleware.ts`. */
export type Middleware = MiddlewareOf<Context>;

/** What a file of `src/resolvers/` may implement of this type. */
export type AuthorOverrides = AuthorResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type CommentOverrides = CommentResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type MutationOverrides = MutationsOf<MutationResolvers>;

/** What a file of `src/resolvers/` may implement of this type. */
export type PostOverrides = PostResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type QueryOverrides = QueryResolvers;

/** What a file of `src/resolvers/` may implement of this type. */
export type TagOverrides = TagResolvers;

/** The type of the table in `src/scalars.ts`. */
export type Scalars = Readonly<Record<string, ScalarMapping>>;

/** The tables of `ctx.db`, with the names of the schema. */
export interface Database {
  authors: TableOf<AuthorRow, 'id'>;
  comments: TableOf<CommentRow, 'id'>;
  postTags: {
    postId: number | string;
    tagId: number | string;
  };
  posts: TableOf<PostRow, 'id' | 'status'>;
  tags: TableOf<TagRow, 'id'>;
}

/** A row of `authors`: the fields that are columns, and the foreign keys. */
export interface AuthorRow {
  id: number | string;
  name: string;
  email: string;
}

/** A row of `comments`: the fields that are columns, and the foreign keys. */
export interface CommentRow {
  id: number | string;
  text: string;
  postId: number | string;
  createdAt: string;
}

/** A row of `posts`: the fields that are columns, and the foreign keys. */
export interface PostRow {
  id: number | string;
  title: string;
  body: string;
  status: PostStatus;
  authorId: number | string;
  createdAt: string;
  updatedAt: string;
}

/** A row of `tags`: the fields that are columns, and the foreign keys. */
export interface TagRow {
  id: number | string;
  name: string;
}

/** `ctx.data`: rows with the checks, rules and events of the API. */
export interface Data {
  readonly author: EntityData<AuthorShape>;
  readonly comment: EntityData<CommentShape>;
  readonly post: EntityData<PostShape>;
  readonly tag: EntityData<TagShape>;
}

/** What `ctx.data.author` takes and returns. */
export interface AuthorShape {
  row: AuthorRow;
  key: { id: number | string } | { email: string };
  one: {};
  many: { posts: PostShape };
}

/** What `ctx.data.comment` takes and returns. */
export interface CommentShape {
  row: CommentRow;
  key: { id: number | string };
  one: { post: PostShape };
  many: {};
}

/** What `ctx.data.post` takes and returns. */
export interface PostShape {
  row: PostRow;
  key: { id: number | string };
  one: { author: AuthorShape };
  many: { comments: CommentShape; tags: TagShape };
}

/** What `ctx.data.tag` takes and returns. */
export interface TagShape {
  row: TagRow;
  key: { id: number | string } | { name: string };
  one: {};
  many: { posts: PostShape };
}

/** What `src/hooks/Author.ts` may hold. */
export type AuthorHooks = HooksOf<{ shape: AuthorShape; context: Context; given: 'name' | 'email'; demanded: never; extra: object }>;

/** What `src/hooks/Comment.ts` may hold. */
export type CommentHooks = HooksOf<{ shape: CommentShape; context: Context; given: 'text' | 'postId'; demanded: never; extra: object }>;

/** What `src/hooks/Post.ts` may hold. */
export type PostHooks = HooksOf<{ shape: PostShape; context: Context; given: 'title' | 'body' | 'authorId'; demanded: never; extra: object }>;

/** What `src/hooks/Tag.ts` may hold. */
export type TagHooks = HooksOf<{ shape: TagShape; context: Context; given: 'name'; demanded: never; extra: object }>;

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

/** Somebody who writes. */
export type Author = {
  email: ScalarTypes['String']['output'];
  id: ScalarTypes['ID']['output'];
  name: ScalarTypes['String']['output'];
  posts: Array<Post>;
};

/** Somebody who writes. */
export type AuthorpostsArgs = {
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
};

export type Comment = {
  createdAt: ScalarTypes['DateTime']['output'];
  id: ScalarTypes['ID']['output'];
  post: Post;
  text: ScalarTypes['String']['output'];
};

export type CreatePostInput = {
  authorId: ScalarTypes['ID']['input'];
  body: ScalarTypes['String']['input'];
  status?: InputMaybe<PostStatus>;
  tagIds?: InputMaybe<Array<ScalarTypes['ID']['input']>>;
  title: ScalarTypes['String']['input'];
};

export type Mutation = {
  createAuthor: Author;
  createComment: Comment;
  createPost: Post;
  createTag: Tag;
  deletePost: ScalarTypes['Boolean']['output'];
  updatePost?: Maybe<Post>;
};

export type MutationcreateAuthorArgs = {
  email: ScalarTypes['String']['input'];
  name: ScalarTypes['String']['input'];
};

export type MutationcreateCommentArgs = {
  postId: ScalarTypes['ID']['input'];
  text: ScalarTypes['String']['input'];
};

export type MutationcreatePostArgs = {
  input: CreatePostInput;
};

export type MutationcreateTagArgs = {
  name: ScalarTypes['String']['input'];
};

export type MutationdeletePostArgs = {
  id: ScalarTypes['ID']['input'];
};

export type MutationupdatePostArgs = {
  id: ScalarTypes['ID']['input'];
  input: UpdatePostInput;
};

export type Post = {
  author: Author;
  body: ScalarTypes['String']['output'];
  comments: Array<Comment>;
  createdAt: ScalarTypes['DateTime']['output'];
  id: ScalarTypes['ID']['output'];
  /** How many minutes it takes to read. */
  minutes: ScalarTypes['Int']['output'];
  status: PostStatus;
  tags: Array<Tag>;
  title: ScalarTypes['String']['output'];
  updatedAt: ScalarTypes['DateTime']['output'];
};

export type PostStatus =
  | 'DRAFT'
  | 'PUBLISHED';

export type Query = {
  author?: Maybe<Author>;
  authorByEmail?: Maybe<Author>;
  authors: Array<Author>;
  post?: Maybe<Post>;
  posts: Array<Post>;
  tags: Array<Tag>;
};

export type QueryauthorArgs = {
  id: ScalarTypes['ID']['input'];
};

export type QueryauthorByEmailArgs = {
  email: ScalarTypes['String']['input'];
};

export type QueryauthorsArgs = {
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
};

export type QuerypostArgs = {
  id: ScalarTypes['ID']['input'];
};

export type QuerypostsArgs = {
  limit?: InputMaybe<ScalarTypes['Int']['input']>;
  offset?: InputMaybe<ScalarTypes['Int']['input']>;
  status?: InputMaybe<PostStatus>;
};

export type Tag = {
  id: ScalarTypes['ID']['output'];
  name: ScalarTypes['String']['output'];
  posts: Array<Post>;
};

export type UpdatePostInput = {
  body?: InputMaybe<ScalarTypes['String']['input']>;
  status?: InputMaybe<PostStatus>;
  tagIds?: InputMaybe<Array<ScalarTypes['ID']['input']>>;
  title?: InputMaybe<ScalarTypes['String']['input']>;
};

/** Arguments, of which these are never absent: they are required or have a default. */
export type RequireFields<T, K extends keyof T> = T & { [P in K]-?: NonNullable<T[P]> };

/** The result of a resolver: a value, or a promise of one. */
export type ResolverTypeWrapper<T> = Promise<T> | T;

/** The resolver of one field. */
export type Resolver<Result, Parent, ContextType, Args = Record<PropertyKey, never>> = (parent: Parent, args: Args, ctx: ContextType, info: GraphQLResolveInfo) => Promise<Result> | Result;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Author: ResolverTypeWrapper<AuthorRow>;
  Boolean: ResolverTypeWrapper<ScalarTypes['Boolean']['output']>;
  Comment: ResolverTypeWrapper<CommentRow>;
  CreatePostInput: CreatePostInput;
  DateTime: ResolverTypeWrapper<ScalarTypes['DateTime']['output']>;
  ID: ResolverTypeWrapper<ScalarTypes['ID']['output']>;
  Int: ResolverTypeWrapper<ScalarTypes['Int']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Post: ResolverTypeWrapper<PostRow>;
  PostStatus: PostStatus;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  String: ResolverTypeWrapper<ScalarTypes['String']['output']>;
  Tag: ResolverTypeWrapper<TagRow>;
  UpdatePostInput: UpdatePostInput;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Author: AuthorRow;
  Boolean: ScalarTypes['Boolean']['output'];
  Comment: CommentRow;
  CreatePostInput: CreatePostInput;
  DateTime: ScalarTypes['DateTime']['output'];
  ID: ScalarTypes['ID']['output'];
  Int: ScalarTypes['Int']['output'];
  Mutation: Record<PropertyKey, never>;
  Post: PostRow;
  Query: Record<PropertyKey, never>;
  String: ScalarTypes['String']['output'];
  Tag: TagRow;
  UpdatePostInput: UpdatePostInput;
};

export type AuthorResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Author'] = ResolversParentTypes['Author']> = {
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  posts?: Resolver<Array<ResolversTypes['Post']>, ParentType, ContextType, Partial<AuthorpostsArgs>>;
};

export type CommentResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Comment'] = ResolversParentTypes['Comment']> = {
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createAuthor?: Resolver<ResolversTypes['Author'], ParentType, ContextType, RequireFields<MutationcreateAuthorArgs, 'email' | 'name'>>;
  createComment?: Resolver<ResolversTypes['Comment'], ParentType, ContextType, RequireFields<MutationcreateCommentArgs, 'postId' | 'text'>>;
  createPost?: Resolver<ResolversTypes['Post'], ParentType, ContextType, RequireFields<MutationcreatePostArgs, 'input'>>;
  createTag?: Resolver<ResolversTypes['Tag'], ParentType, ContextType, RequireFields<MutationcreateTagArgs, 'name'>>;
  deletePost?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationdeletePostArgs, 'id'>>;
  updatePost?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType, RequireFields<MutationupdatePostArgs, 'id' | 'input'>>;
};

export type PostResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Post'] = ResolversParentTypes['Post']> = {
  author?: Resolver<ResolversTypes['Author'], ParentType, ContextType>;
  body?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  comments?: Resolver<Array<ResolversTypes['Comment']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  minutes?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  status?: Resolver<ResolversTypes['PostStatus'], ParentType, ContextType>;
  tags?: Resolver<Array<ResolversTypes['Tag']>, ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  author?: Resolver<Maybe<ResolversTypes['Author']>, ParentType, ContextType, RequireFields<QueryauthorArgs, 'id'>>;
  authorByEmail?: Resolver<Maybe<ResolversTypes['Author']>, ParentType, ContextType, RequireFields<QueryauthorByEmailArgs, 'email'>>;
  authors?: Resolver<Array<ResolversTypes['Author']>, ParentType, ContextType, Partial<QueryauthorsArgs>>;
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType, RequireFields<QuerypostArgs, 'id'>>;
  posts?: Resolver<Array<ResolversTypes['Post']>, ParentType, ContextType, Partial<QuerypostsArgs>>;
  tags?: Resolver<Array<ResolversTypes['Tag']>, ParentType, ContextType>;
};

export type TagResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Tag'] = ResolversParentTypes['Tag']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  posts?: Resolver<Array<ResolversTypes['Post']>, ParentType, ContextType>;
};

export type Resolvers<ContextType = Context> = {
  Author?: AuthorResolvers<ContextType>;
  Comment?: CommentResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  Mutation?: MutationResolvers<ContextType>;
  Post?: PostResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Tag?: TagResolvers<ContextType>;
};
