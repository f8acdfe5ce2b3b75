import type { Bringing } from './bring.ts';

/** The constructs of a public schema, in models of our own. */
export interface Source extends Bringing {
  readonly name: string;
  readonly constructs: string;
  readonly text: string;
}

/** Accounts refer to users by a whole number or a UUID. */
const TEXT_KEYS = [
  'AUTH_USER_KEY User.id is a text, and accounts refer to users by a whole number: the manifest says database: { ids: integer }; give the table a key that is a whole number or a UUID',
];

/** The report of a foreign key that shares columns with the key: its columns are plain fields. */
export const IN_KEY = 'its columns are a part of the key of the table';

/** Prisma schemas: `;` ends a line. */
export const PRISMA_SOURCES: readonly Source[] = [
  {
    name: 'documenso',
    constructs:
      'enum lists with defaults, composite key, Json with @db, Bytes, type called Subscription, created_at beside a camelCase model',
    users: { user: 'User' },
    text: `
      enum Role { ADMIN; USER }
      enum SubscriptionStatus { ACTIVE; PAST_DUE }
      model User { id Int @id @default(autoincrement()); name String?; email String @unique; password String?; roles Role[] @default([USER]); tags String[] @default([]); createdAt DateTime @default(now()); updatedAt DateTime @default(now()) @updatedAt; subscriptions Subscription[]; documents Document[] }
      model Subscription { id Int @id @default(autoincrement()); status SubscriptionStatus @default(ACTIVE); planId String @unique; user User @relation(fields: [userId], references: [id], onDelete: Cascade); userId Int; @@index([userId]) }
      model Document { id String @id @default(cuid()); title String; meta Json? @db.JsonB; data Bytes?; visibility String[] @default(["EVERYONE"]); user User @relation(fields: [userId], references: [id], onDelete: Cascade); userId Int; recipients Recipient[] }
      model Recipient { id Int @id @default(autoincrement()); email String @db.VarChar(255); document Document @relation(fields: [documentId], references: [id], onDelete: Cascade); documentId String; fields Field[]; @@unique([documentId, email]) }
      model Field { id Int @id @default(autoincrement()); page Int; positionX Decimal @default(0); recipient Recipient @relation(fields: [recipientId], references: [id]); recipientId Int }
      model RateLimit { key String; action String; bucket DateTime; count Int @default(1); @@id([key, action, bucket]); @@index([bucket]) }`,
  },
  {
    name: 'formbricks',
    constructs:
      'Json defaults, @map in snake_case beside camelCase, composite references that share a column, composite keys of relations',
    text: `
      enum SurveyType { link; app }
      enum Level { read; write }
      model Workspace { id String @id @default(cuid()); createdAt DateTime @default(now()) @map(name: "created_at"); name String; config Json @default("{\\"channel\\":null}"); styling Json @default("{}"); surveys Survey[]; mappings Mapping[]; teams TeamAccess[] }
      model Survey { id String @id @default(cuid()); created_at DateTime @default(now()); type SurveyType @default(app); welcome Json @default("{\\"enabled\\":false}"); questions Json @default("[]"); languages String[] @default([]); workspaceId String; workspace Workspace @relation(fields: [workspaceId], references: [id], onDelete: Cascade); mappings Mapping[]; responses Response[]; @@unique([id, workspaceId]); @@index([workspaceId, type]) }
      model Response { id String @id @default(cuid()); data Json @default("{}"); finished Boolean @default(false); surveyId String; survey Survey @relation(fields: [surveyId], references: [id], onDelete: Cascade); @@index([surveyId, finished]) }
      model Mapping { id String @id @default(cuid()); workspaceId String; workspace Workspace @relation(fields: [workspaceId], references: [id]); surveyId String; survey Survey @relation(fields: [surveyId, workspaceId], references: [id, workspaceId], onDelete: Cascade) }
      model Team { id String @id @default(cuid()); name String; access TeamAccess[] }
      model TeamAccess { teamId String; team Team @relation(fields: [teamId], references: [id], onDelete: Cascade); workspaceId String; workspace Workspace @relation(fields: [workspaceId], references: [id], onDelete: Cascade); level Level @default(read); @@id([teamId, workspaceId]) }`,
  },
  {
    name: 'cal.com',
    constructs:
      'one-to-one under names that are not the types, two relations to one type, enum with @map, @@map',
    users: { user: 'User', fields: { username: 'ada' } },
    text: `
      enum Period { UNLIMITED @map("unlimited"); ROLLING @map("rolling"); RANGE @map("range"); @@map("periodType") }
      model User { id Int @id @default(autoincrement()); username String? @unique; email String @unique; timeZone String @default("Europe/London"); weekStart String @default("Sunday"); eventTypes EventType[] @relation("user_eventtype"); owned EventType[] @relation("owner"); bookings Booking[]; @@map(name: "users") }
      model EventType { id Int @id @default(autoincrement()); title String; slug String; length Int; periodType Period @default(UNLIMITED); metadata Json?; users User[] @relation("user_eventtype"); owner User? @relation("owner", fields: [userId], references: [id], onDelete: Cascade); userId Int?; bookings Booking[]; @@unique([userId, slug]) }
      model Booking { id Int @id @default(autoincrement()); uid String @unique; user User? @relation(fields: [userId], references: [id]); userId Int?; eventType EventType? @relation(fields: [eventTypeId], references: [id]); eventTypeId Int?; startTime DateTime; dailyRef DailyEventReference?; attendees Attendee[]; responses Json? }
      model DailyEventReference { id Int @id @default(autoincrement()); dailyurl String @default("none"); booking Booking? @relation(fields: [bookingId], references: [id]); bookingId Int? @unique }
      model Attendee { id Int @id @default(autoincrement()); email String; name String; booking Booking? @relation(fields: [bookingId], references: [id]); bookingId Int? }`,
  },
  {
    name: 'papermark',
    constructs:
      'cuid keys, self relation, relations without an inverse name, BigInt, SetNull, sort in indexes',
    users: { user: 'User' },
    decide: TEXT_KEYS,
    text: `
      enum LinkType { DOCUMENT_LINK; DATAROOM_LINK }
      model User { id String @id @default(cuid()); name String?; email String? @unique; teams UserTeam[]; documents Document[] }
      model Team { id String @id @default(cuid()); name String; limits Json?; users UserTeam[]; documents Document[]; folders Folder[] }
      model UserTeam { userId String; user User @relation(fields: [userId], references: [id], onDelete: Cascade); teamId String; team Team @relation(fields: [teamId], references: [id], onDelete: Cascade); role String @default("MEMBER"); @@id([userId, teamId]); @@index([userId]) }
      model Folder { id String @id @default(cuid()); name String; path String; parentId String?; parentFolder Folder? @relation("SubFolders", fields: [parentId], references: [id], onDelete: SetNull); childFolders Folder[] @relation("SubFolders"); teamId String; team Team @relation(fields: [teamId], references: [id]); documents Document[]; @@unique([teamId, path]) }
      model Document { id String @id @default(cuid()); name String; size BigInt?; ownerId String?; owner User? @relation(fields: [ownerId], references: [id], onDelete: SetNull); teamId String; team Team @relation(fields: [teamId], references: [id]); folderId String?; folder Folder? @relation(fields: [folderId], references: [id], onDelete: SetNull); links Link[]; createdAt DateTime @default(now()); @@index([teamId, createdAt(sort: Desc)]) }
      model Link { id String @id @default(cuid()); slug String?; linkType LinkType @default(DOCUMENT_LINK); allowList String[]; document Document? @relation(fields: [documentId], references: [id]); documentId String?; views View[] }
      model View { id String @id @default(cuid()); viewedAt DateTime @default(now()); link Link @relation(fields: [linkId], references: [id]); linkId String }`,
  },
  {
    name: 'typebot',
    constructs:
      'optional relation over a required column, unique key in place of a primary key, one-to-one, Json in required columns',
    text: `
      enum Role { ADMIN; MEMBER; GUEST }
      model Workspace { id String @id @default(cuid()); name String @db.VarChar(255); typebots Typebot[]; members Member[]; settings Json? }
      model Member { workspace Workspace @relation(fields: [workspaceId], references: [id], onDelete: Cascade); workspaceId String; userId String; role Role; @@unique([userId, workspaceId]) }
      model Typebot { id String @id @default(cuid()); name String; groups Json; resultsTablePreferences Json?; workspace Workspace @relation(fields: [workspaceId], references: [id], onDelete: Cascade); workspaceId String; publishedTypebot PublicTypebot?; results Result[]; isArchived Boolean @default(false); @@index([workspaceId]); @@index([isArchived, workspaceId]) }
      model PublicTypebot { id String @id @default(cuid()); typebot Typebot @relation(fields: [typebotId], references: [id], onDelete: Cascade); typebotId String @unique; variables Json; cache MediaCache[] }
      model MediaCache { url String; mediaId String; expiresAt DateTime?; publicTypebot PublicTypebot? @relation(fields: [publicTypebotId], references: [id], onDelete: Cascade); publicTypebotId String; @@unique([publicTypebotId, url]); @@index([expiresAt]) }
      model Result { id String @id @default(cuid()); createdAt DateTime @default(now()); typebot Typebot @relation(fields: [typebotId], references: [id], onDelete: Cascade); typebotId String; answers Answer[] }
      model Answer { id Int @id @default(autoincrement()); blockId String; content String @db.Text; result Result @relation(fields: [resultId], references: [id], onDelete: Cascade); resultId String }`,
  },
  {
    name: 'umami',
    constructs:
      '@db.Uuid keys, Timestamptz(6), numeric(22,4), relations by name, names in snake_case',
    text: `
      model User { id String @id @unique @map("user_id") @db.Uuid; username String @unique @db.VarChar(255); role String @map("role") @db.VarChar(50); createdAt DateTime? @default(now()) @map("created_at") @db.Timestamptz(6); deletedAt DateTime? @map("deleted_at") @db.Timestamptz(6); created Website[] @relation("createUser"); websites Website[] @relation("user"); @@map("user") }
      model Website { id String @id @unique @map("website_id") @db.Uuid; name String @db.VarChar(100); shareId String? @unique @map("share_id") @db.VarChar(50); userId String? @map("user_id") @db.Uuid; createdBy String? @map("created_by") @db.Uuid; user User? @relation("user", fields: [userId], references: [id]); createUser User? @relation("createUser", fields: [createdBy], references: [id]); events Event[]; sessions Visit[]; @@index([userId]); @@index([createdBy]); @@map("website") }
      model Visit { id String @id @unique @map("session_id") @db.Uuid; websiteId String @map("website_id") @db.Uuid; browser String? @db.VarChar(20); country String? @db.Char(2); website Website @relation(fields: [websiteId], references: [id]); events Event[]; @@index([websiteId, country]); @@map("session") }
      model Event { id String @id @map("event_id") @db.Uuid; websiteId String @map("website_id") @db.Uuid; visitId String @map("visit_id") @db.Uuid; revenue Decimal? @db.Decimal(22, 4); urlPath String @map("url_path") @db.VarChar(500); eventType Int @default(1) @map("event_type") @db.Integer; website Website @relation(fields: [websiteId], references: [id]); visit Visit @relation(fields: [visitId], references: [id]); @@index([websiteId, eventType]); @@map("website_event") }`,
  },
  {
    name: 'langfuse',
    constructs:
      'composite keys with a column id, composite references that overlap a key, list with an index, @@map everywhere',
    without: { DatasetItem: IN_KEY },
    keys: { AgentEvent: { projectId: 'Project' } },
    text: `
      enum Kind { NUMERIC; CATEGORICAL }
      model Project { id String @id @default(cuid()); name String; metadata Json?; datasets Dataset[]; conversations Conversation[]; configs ScoreConfig[]; @@map("projects") }
      model ScoreConfig { id String @id @default(cuid()); name String; kind Kind @map("data_type"); categories String[] @default([]); minValue Float? @map("min_value"); projectId String @map("project_id"); project Project @relation(fields: [projectId], references: [id], onDelete: Cascade); @@unique([id, projectId]); @@index([categories]); @@map("score_configs") }
      model Dataset { id String @default(cuid()); projectId String @map("project_id"); project Project @relation(fields: [projectId], references: [id], onDelete: Cascade); name String; items DatasetItem[]; @@id([id, projectId]); @@unique([projectId, name]); @@map("datasets") }
      model DatasetItem { id String @default(cuid()); projectId String @map("project_id"); validFrom DateTime @default(now()) @map("valid_from"); input Json?; datasetId String @map("dataset_id"); dataset Dataset @relation(fields: [datasetId, projectId], references: [id, projectId], onDelete: Cascade); @@id([id, projectId, validFrom]); @@index([datasetId], type: Hash); @@map("dataset_items") }
      model Conversation { id String @id @default(cuid()); projectId String @map("project_id"); project Project @relation(fields: [projectId], references: [id], onDelete: Cascade); events AgentEvent[]; @@unique([projectId, id]); @@map("conversations") }
      model AgentEvent { projectId String @map("project_id"); conversationId String @map("conversation_id"); sequence BigInt; conversation Conversation @relation(fields: [projectId, conversationId], references: [projectId, id], onDelete: Cascade); event Json; @@id([projectId, conversationId, sequence]); @@map("agent_events") }`,
  },
  {
    name: 'ghostfolio',
    constructs:
      'a column id in a composite key, composite relation whose name is that of one of its columns, key of a relation, fields in the order of the alphabet',
    text: `
      enum DataSource { MANUAL; YAHOO }
      model Account { activities Order[]; balances Balance[]; currency String?; id String @default(uuid()); name String?; tags TagsOnAccounts[]; user User @relation(fields: [userId], onDelete: Cascade, references: [id]); userId String; @@id([id, userId]); @@index([id]); @@index([name]) }
      model Balance { account Account @relation(fields: [accountId, userId], onDelete: Cascade, references: [id, userId]); accountId String; date DateTime @default(now()); id String @id @default(uuid()); userId String; value Float; @@unique([accountId, date]) }
      model Analytics { activityCount Int @default(0); updatedAt DateTime @updatedAt; user User @relation(fields: [userId], onDelete: Cascade, references: [id]); userId String @id; @@index([updatedAt]) }
      model Order { account Account? @relation(fields: [accountId, accountUserId], references: [id, userId]); accountId String?; accountUserId String?; date DateTime; fee Float; id String @id @default(uuid()); source DataSource @default(MANUAL); tags Tag[]; user User @relation(fields: [userId], references: [id]); userId String; @@index([accountId]) }
      model Tag { accounts TagsOnAccounts[]; id String @id @default(uuid()); name String; orders Order[]; user User? @relation(fields: [userId], references: [id]); userId String?; @@unique([name, userId]) }
      model TagsOnAccounts { account Account @relation(fields: [accountId, userId], onDelete: Cascade, references: [id, userId]); accountId String; tag Tag @relation(fields: [tagId], references: [id], onDelete: Cascade); tagId String; userId String; @@id([accountId, tagId, userId]) }
      model User { accounts Account[]; analytics Analytics?; id String @id @default(uuid()); orders Order[]; permissions String[] @default([]); provider DataSource @default(MANUAL); settings Json @default("{}"); tags Tag[] }`,
  },
  {
    name: 'rallly',
    constructs:
      'citext, key with a literal default, dbgenerated, one row of settings, @@map and @map on all',
    users: { user: 'User', fields: { name: 'Ada' } },
    decide: TEXT_KEYS,
    text: `
      enum TimeFormat { hours12; hours24; @@map("time_format") }
      model User { id String @id @default(cuid()); name String; email String @unique @db.Citext; emailVerified Boolean @default(false) @map("email_verified"); timeFormat TimeFormat? @map("time_format"); polls Poll[]; spaces Space[]; @@map("users") }
      model InstanceSettings { id Int @id @default(1); disableRegistration Boolean @default(false) @map("disable_registration"); instanceId String @unique @default(dbgenerated("gen_random_uuid()")) @map("instance_id") @db.Uuid; @@map("instance_settings") }
      model Space { id String @id @default(uuid()); name String; ownerId String @map("owner_id"); owner User @relation(fields: [ownerId], references: [id], onDelete: Cascade); polls Poll[]; @@index([ownerId], type: Hash); @@map("spaces") }
      model Poll { id String @id @unique @map("id"); title String; status String @default("live"); userId String? @map("user_id"); user User? @relation(fields: [userId], references: [id], onDelete: SetNull); spaceId String? @map("space_id"); space Space? @relation(fields: [spaceId], references: [id], onDelete: SetNull); options Option[]; participants Participant[]; deletedAt DateTime? @map("deleted_at"); @@map("polls") }
      model Option { id String @id @default(cuid()); startTime DateTime @map("start_time") @db.Timestamp(0); duration Int @default(0) @map("duration_minutes"); pollId String @map("poll_id"); poll Poll @relation(fields: [pollId], references: [id], onDelete: Cascade); votes Vote[]; @@map("options") }
      model Participant { id String @id @default(cuid()); name String; email String? @db.Citext; pollId String @map("poll_id"); poll Poll @relation(fields: [pollId], references: [id], onDelete: Cascade); votes Vote[]; @@map("participants") }
      model Vote { id String @id @default(cuid()); participantId String @map("participant_id"); participant Participant @relation(fields: [participantId], references: [id], onDelete: Cascade); optionId String @map("option_id"); option Option @relation(fields: [optionId], references: [id], onDelete: Cascade); createdAt DateTime @default(now()) @map("created_at"); @@map("votes") }`,
  },
  {
    name: 'inbox-zero',
    constructs:
      'references to a key and another column, GIN-less index over a list, enums of many values, @@unique of names',
    text: `
      enum ActionType { ARCHIVE; LABEL; REPLY; DRAFT; DIGEST }
      model Premium { id String @id @default(cuid()); pendingInvites String[]; accounts EmailAccount[]; @@index([pendingInvites]) }
      model EmailAccount { id String @id @default(cuid()); email String @unique; about String?; premium Premium? @relation(fields: [premiumId], references: [id]); premiumId String?; rules Rule[]; actions Action[] }
      model Rule { id String @id @default(cuid()); name String; enabled Boolean @default(true); emailAccount EmailAccount @relation(fields: [emailAccountId], references: [id], onDelete: Cascade); emailAccountId String; actions Action[]; @@unique([name, emailAccountId]); @@unique([id, emailAccountId]) }
      model Action { id String @id @default(cuid()); type ActionType; delay Int?; rule Rule @relation(fields: [ruleId, emailAccountId], references: [id, emailAccountId], onDelete: Cascade); ruleId String; emailAccount EmailAccount @relation(fields: [emailAccountId], references: [id]); emailAccountId String; @@index([ruleId, type]) }
      model Category { id String @id @default(cuid()); name String; newsletters Newsletter[] }
      model Newsletter { id String @id @default(cuid()); email String; status String?; category Category? @relation(fields: [categoryId], references: [id]); categoryId String? }`,
  },
  {
    name: 'trigger.dev',
    constructs:
      'block comments, BigInt and Bytes, self relation one to one, implicit many-to-many, index over several with sort',
    users: { user: 'User' },
    decide: TEXT_KEYS,
    text: `
      /* Who signs in: a person (or a robot), by e-mail. */
      model User { id String @id @default(cuid()); email String @unique; admin Boolean @default(false); orgMemberships OrgMember[] }
      /** An account's home; it isn't deleted. */
      model Organization { id String @id @default(cuid()); slug String @unique; title String; flags Json?; members OrgMember[]; projects Project[] }
      model OrgMember { id String @id @default(cuid()); organization Organization @relation(fields: [organizationId], references: [id], onDelete: Cascade); organizationId String; user User @relation(fields: [userId], references: [id]); userId String; @@unique([organizationId, userId]) }
      model Project { id String @id @default(cuid()); name String; engine String @default("V1"); organization Organization @relation(fields: [organizationId], references: [id]); organizationId String; runs TaskRun[]; tags Tag[]; @@index([organizationId, name(sort: Desc)]) }
      model Tag { id String @id @default(cuid()); name String; project Project @relation(fields: [projectId], references: [id]); projectId String; runs TaskRun[] }
      model TaskRun { id String @id @default(cuid()); number Int @default(0); payload String @db.Text; output Bytes?; usage BigInt @default(0); cost Float @default(0); runTags String[]; project Project @relation(fields: [projectId], references: [id]); projectId String; tags Tag[]; parent TaskRun? @relation("ParentRun", fields: [parentId], references: [id], onDelete: SetNull); parentId String?; children TaskRun[] @relation("ParentRun"); createdAt DateTime @default(now()); @@index([projectId, createdAt(sort: Desc)]); @@index([runTags(ops: ArrayOps)], type: Gin) }`,
  },
  {
    name: 'linkwarden',
    constructs:
      'integer keys, relations by name, composite key, self relation by parent, many-to-many by name',
    users: { user: 'User', fields: { username: 'ada' } },
    text: `
      enum Theme { dark; light; auto }
      model User { id Int @id @default(autoincrement()); name String?; username String? @unique; email String? @unique; theme Theme @default(dark); collections Collection[]; pinnedLinks Link[] @relation("pinned"); links Link[] @relation("createdBy"); tags Tag[]; memberOf UsersAndCollections[]; whitelisted String[] @default([]) }
      model Collection { id Int @id @default(autoincrement()); name String; isPublic Boolean @default(false); parentId Int?; parent Collection? @relation("Sub", fields: [parentId], references: [id]); subCollections Collection[] @relation("Sub"); owner User @relation(fields: [ownerId], references: [id]); ownerId Int; members UsersAndCollections[]; links Link[]; createdAt DateTime @default(now()); @@index([ownerId]) }
      model UsersAndCollections { user User @relation(fields: [userId], references: [id], onDelete: Cascade); userId Int; collection Collection @relation(fields: [collectionId], references: [id], onDelete: Cascade); collectionId Int; canCreate Boolean; @@id([userId, collectionId]) }
      model Link { id Int @id @default(autoincrement()); name String @default(""); url String?; createdBy User? @relation("createdBy", fields: [createdById], references: [id]); createdById Int?; pinnedBy User[] @relation("pinned"); tags Tag[]; collection Collection @relation(fields: [collectionId], references: [id]); collectionId Int; updatedAt DateTime @default(now()) @updatedAt }
      model Tag { id Int @id @default(autoincrement()); name String; links Link[]; owner User @relation(fields: [ownerId], references: [id]); ownerId Int; @@unique([name, ownerId]) }`,
  },
  {
    name: 'hoppscotch',
    constructs:
      'key called uid, Json in required columns, sorted index, two unique keys, Timestamptz(3)',
    text: `
      enum ReqType { REST; GQL }
      model Team { id String @id @default(cuid()); name String; members TeamMember[]; collections TeamCollection[] }
      model TeamMember { id String @id @default(uuid()); role String; userUid String; teamID String; team Team @relation(fields: [teamID], references: [id], onDelete: Cascade); @@unique([teamID, userUid]) }
      model TeamCollection { id String @id @default(cuid()); parentID String?; parent TeamCollection? @relation("Child", fields: [parentID], references: [id]); children TeamCollection[] @relation("Child"); data Json?; teamID String; team Team @relation(fields: [teamID], references: [id], onDelete: Cascade); title String; orderIndex Int; createdOn DateTime @default(now()) @db.Timestamptz(3); updatedOn DateTime @updatedAt @db.Timestamptz(3) }
      model User { uid String @id @default(cuid()); displayName String?; email String? @unique; isAdmin Boolean @default(false); settings UserSettings?; history UserHistory[]; environments UserEnvironment[] }
      model UserSettings { id String @id @default(cuid()); userUid String @unique; user User @relation(fields: [userUid], references: [uid], onDelete: Cascade); properties Json; updatedOn DateTime @updatedAt @db.Timestamptz(3) }
      model UserHistory { id String @id @default(cuid()); userUid String; user User @relation(fields: [userUid], references: [uid], onDelete: Cascade); reqType ReqType; request Json; isStarred Boolean; executedOn DateTime @default(now()) @db.Timestamptz(3) }
      model UserEnvironment { id String @id @default(cuid()); userUid String; user User @relation(fields: [userUid], references: [uid], onDelete: Cascade); name String?; variables Json; isGlobal Boolean }`,
  },
  {
    name: 'spliit',
    constructs: 'Date, composite key of relations, enum defaults, self-made keys without a default',
    text: `
      enum SplitMode { EVENLY; BY_SHARES; BY_PERCENTAGE; BY_AMOUNT }
      model Group { id String @id; name String; information String? @db.Text; currency String @default("$"); participants Participant[]; expenses Expense[]; createdAt DateTime @default(now()) }
      model Participant { id String @id; name String; group Group @relation(fields: [groupId], references: [id], onDelete: Cascade); groupId String; paidBy Expense[]; paidFor ExpensePaidFor[] }
      model Category { id Int @id @default(autoincrement()); grouping String; name String; expenses Expense[] }
      model Expense { id String @id; group Group @relation(fields: [groupId], references: [id], onDelete: Cascade); groupId String; expenseDate DateTime @default(dbgenerated("CURRENT_DATE")) @db.Date; title String; category Category? @relation(fields: [categoryId], references: [id]); categoryId Int @default(0); amount Int; paidBy Participant @relation(fields: [paidById], references: [id], onDelete: Cascade); paidById String; paidFor ExpensePaidFor[]; splitMode SplitMode @default(EVENLY) }
      model ExpensePaidFor { expense Expense @relation(fields: [expenseId], references: [id], onDelete: Cascade); expenseId String; participant Participant @relation(fields: [participantId], references: [id], onDelete: Cascade); participantId String; shares Int @default(1); @@id([expenseId, participantId]) }`,
  },
  {
    name: 'plunk',
    constructs:
      'models in the plural by @@map, many-to-many over a model, unique pair, text keys by uuid()',
    users: { user: 'User' },
    decide: TEXT_KEYS,
    text: `
      enum Role { ADMIN; OWNER; MEMBER }
      model User { id String @id @default(uuid()); email String @unique; memberships Membership[]; @@map("users") }
      model Project { id String @id @default(uuid()); name String; url String; memberships Membership[]; contacts Contact[]; events Event[]; @@map("projects") }
      model Membership { userId String; user User @relation(fields: [userId], references: [id], onDelete: Cascade); projectId String; project Project @relation(fields: [projectId], references: [id], onDelete: Cascade); role Role; @@id([userId, projectId]); @@map("memberships") }
      model Contact { id String @id @default(uuid()); email String; subscribed Boolean @default(true); data String? @db.Text; project Project @relation(fields: [projectId], references: [id], onDelete: Cascade); projectId String; triggers Trigger[]; @@map("contacts") }
      model Event { id String @id @default(uuid()); name String; project Project @relation(fields: [projectId], references: [id], onDelete: Cascade); projectId String; triggers Trigger[]; @@unique([projectId, name]); @@map("events") }
      model Trigger { id String @id @default(uuid()); contact Contact @relation(fields: [contactId], references: [id], onDelete: Cascade); contactId String; event Event? @relation(fields: [eventId], references: [id], onDelete: Cascade); eventId String?; createdAt DateTime @default(now()); @@map("triggers") }`,
  },
  {
    name: 'postiz',
    constructs:
      '@@ignore, @ignore, model names in the plural, composite key beside an index with map, BigInt',
    text: `
      model Organization { id String @id @default(uuid()); name String; allowTrial Boolean @default(false); posts Post[]; tags Tags[] }
      model Tags { id String @id @default(uuid()); name String; color String; orgId String; organization Organization @relation(fields: [orgId], references: [id]); posts TagsPosts[]; @@index([orgId], map: "tags_of_org") }
      model TagsPosts { postId String; post Post @relation(fields: [postId], references: [id]); tagId String; tag Tags @relation(fields: [tagId], references: [id]); createdAt DateTime @default(now()); @@id([postId, tagId]) }
      model Post { id String @id @default(uuid()); title String?; content String; delay Int @default(0); publishDate DateTime; organizationId String; organization Organization @relation(fields: [organizationId], references: [id]); parentPostId String?; parentPost Post? @relation("parent", fields: [parentPostId], references: [id]); childrenPost Post[] @relation("parent"); tags TagsPosts[]; comments Comments[]; legacy String? @ignore; clicks BigInt @default(0); @@index([publishDate, organizationId(sort: Desc)]) }
      model Comments { id String @id @default(uuid()); content String; postId String; post Post @relation(fields: [postId], references: [id]); deletedAt DateTime? }
      model Message { id Int; text String?; @@ignore }`,
  },
  {
    name: 'tianji',
    constructs:
      'keys as VarChar(30) with references of text, Json defaults, composite keys, Decimal',
    text: `
      model User { id String @id @default(cuid()) @db.VarChar(30); username String @unique; role String @default("user") @db.VarChar(20); workspaces WorkspacesOnUsers[]; accounts Account[] }
      model Account { id String @id @default(cuid()); userId String; provider String; user User @relation(fields: [userId], references: [id], onDelete: Cascade); @@unique([provider, userId]) }
      model Workspace { id String @id @default(cuid()) @db.VarChar(30); name String @unique @db.VarChar(100); dashboard Json @default("{}") @db.Json; users WorkspacesOnUsers[]; monitors Monitor[] }
      model WorkspacesOnUsers { userId String @db.VarChar(30); user User @relation(fields: [userId], references: [id], onDelete: Cascade); workspaceId String @db.VarChar(30); workspace Workspace @relation(fields: [workspaceId], references: [id], onDelete: Cascade); role String @db.VarChar(100); @@id([userId, workspaceId]); @@index([userId]) }
      model Monitor { id String @id @default(cuid()) @db.VarChar(30); workspaceId String @db.VarChar(30); workspace Workspace @relation(fields: [workspaceId], references: [id], onDelete: Cascade); name String; interval Int @default(20); payload Json @db.Json; order Decimal @default(1) @db.Decimal(10, 2); events MonitorEvent[]; recent Float[] @default([]) }
      model MonitorEvent { id String @id @default(cuid()) @db.VarChar(30); message String @db.VarChar(1000); monitorId String @db.VarChar(30); monitor Monitor @relation(fields: [monitorId], references: [id], onDelete: Cascade); createdAt DateTime @default(now()) @db.Timestamptz(6) }`,
  },
  {
    name: 'epic-stack',
    constructs:
      'SQLite, Bytes, password in a table of its own whose key is a relation, many-to-many, BigInt',
    without: {
      Password:
        'it is named like a credential, without which no row can be created: serve it by taking the # away',
    },
    text: `
      model User { id String @id @default(cuid()); email String @unique; username String @unique; notes Note[]; image UserImage?; password Password?; roles Role[] }
      model Note { id String @id @default(cuid()); title String; content String; createdAt DateTime @default(now()); updatedAt DateTime @updatedAt; owner User @relation(fields: [ownerId], references: [id], onDelete: Cascade, onUpdate: Cascade); ownerId String; images NoteImage[]; @@index([ownerId]); @@index([ownerId, updatedAt]) }
      model NoteImage { id String @id @default(cuid()); altText String?; objectKey String; note Note @relation(fields: [noteId], references: [id], onDelete: Cascade); noteId String }
      model UserImage { id String @id @default(cuid()); blob Bytes; user User @relation(fields: [userId], references: [id], onDelete: Cascade); userId String @unique }
      model Password { hash String; user User @relation(fields: [userId], references: [id], onDelete: Cascade); userId String @unique }
      model Role { id String @id @default(cuid()); name String @unique; description String @default(""); users User[]; permissions Permission[] }
      model Permission { id String @id @default(cuid()); action String; entity String; access String; roles Role[]; @@unique([action, entity, access]) }`,
  },
  {
    name: 'pingvin-share',
    constructs: 'composite key (name, category), key of a relation, obscured values',
    text: `
      model User { id String @id @default(uuid()); username String @unique; email String @unique; isAdmin Boolean @default(false); shares Share[]; logins LoginToken[] }
      model LoginToken { code String @id @default(uuid()); expiresAt DateTime; userId String; user User @relation(fields: [userId], references: [id], onDelete: Cascade); used Boolean @default(false) }
      model Share { id String @id @default(uuid()); name String?; uploadLocked Boolean @default(false); views Int @default(0); expiration DateTime; creatorId String?; creator User? @relation(fields: [creatorId], references: [id], onDelete: Cascade); security ShareSecurity?; files File[]; recipients ShareRecipient[] }
      model ShareRecipient { id String @id @default(uuid()); email String; shareId String; share Share @relation(fields: [shareId], references: [id], onDelete: Cascade) }
      model File { id String @id @default(uuid()); name String; size String; shareId String; share Share @relation(fields: [shareId], references: [id], onDelete: Cascade) }
      model ShareSecurity { id String @id @default(uuid()); maxViews Int?; shareId String? @unique; share Share? @relation(fields: [shareId], references: [id], onDelete: Cascade) }
      model Config { name String; category String; type String; defaultValue String @default(""); value String?; order Int; @@id([name, category]) }`,
  },
  {
    name: 'civitai',
    constructs:
      'view with a key, references to a unique column of text, many composite keys, several schemas of names, list of enums, SetNull',
    users: { user: 'User', fields: { username: 'ada' } },
    text: `
      enum MetricTimeframe { Day; Week; AllTime }
      enum ModelFlag { nsfw; poi }
      model User { id Int @id @default(autoincrement()); username String? @unique @db.Citext; email String? @unique; muted Boolean @default(false); meta Json? @default("{}"); models Model[]; engagements Engagement[]; reports Report[] }
      model Model { id Int @id @default(autoincrement()); name String; flags ModelFlag[] @default([]); userId Int; user User @relation(fields: [userId], references: [id], onDelete: Cascade); deletedBy Int?; versions ModelVersion[]; engagements Engagement[]; tags TagsOnModels[]; @@index([name], type: Hash); @@index([userId]) }
      model ModelVersion { id Int @id @default(autoincrement()); name String; trainedWords String[]; epochs Int?; clipSkip Int?; modelId Int; model Model @relation(fields: [modelId], references: [id], onDelete: Cascade); metrics VersionMetric[]; files ModelFile[] }
      model ModelFile { id Int @id @default(autoincrement()); name String; sizeKB Float; rawScanResult Json?; versionId Int; version ModelVersion @relation(fields: [versionId], references: [id], onDelete: Cascade) }
      model VersionMetric { versionId Int; version ModelVersion @relation(fields: [versionId], references: [id], onDelete: Cascade); timeframe MetricTimeframe; rating Float @default(0); downloads Int @default(0); @@id([versionId, timeframe]) }
      model Engagement { userId Int; user User @relation(fields: [userId], references: [id], onDelete: Cascade); modelId Int; model Model @relation(fields: [modelId], references: [id], onDelete: Cascade); type String; createdAt DateTime @default(now()); @@id([userId, modelId]) }
      model Tag { id Int @id @default(autoincrement()); name String @unique @db.Citext; models TagsOnModels[] }
      model TagsOnModels { modelId Int; model Model @relation(fields: [modelId], references: [id], onDelete: Cascade); tagId Int; tag Tag @relation(fields: [tagId], references: [id], onDelete: Cascade); @@id([modelId, tagId]); @@index([modelId]) }
      model Report { id Int @id @default(autoincrement()); reason String; username String? @db.Citext; reporter User? @relation(fields: [username], references: [username], onDelete: SetNull) }`,
  },
];
