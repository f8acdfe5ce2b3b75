/** Frequent names of tables in public schemas, as types. */
export const TABLES = (
  'Account Activity Address Answer Api App Application Article Asset Attachment Attribute Audit Author Award Badge ' +
  'Banner Batch Billing Block Board Book Booking Box Branch Brand Bundle Bus Cache Campaign Campus Card Cart Category ' +
  'Channel Chapter Chat Check Child City Class Client Code Collection Color Comment Company Condition Contact Content ' +
  'Contract Conversation Country Coupon Course Currency Custom Customer Data Database Day Deal Delivery Department ' +
  'Deployment Device Directory Discount Document Domain Draft Email Employee Entry Event Export Facility Feature Feed ' +
  'Feedback File Film Filter Folder Form Forum Friend Game Gallery Graph Group Hero History Image Index Info Inventory ' +
  'Invite Invoice Issue Item Job Key Label Language Lead Lens License Line Link List Location Log Match Media Member ' +
  'Menu Message Metric Milestone Movie News Note Notification Option Order Organization Package Page Parent Payment ' +
  'Permission Person Photo Plan Player Policy Post Price Product Profile Project Property Purchase Question Quiz Rating ' +
  'Reaction Recipe Record Region Report Request Reservation Resource Response Review Reward Role Room Rule Sale Schedule ' +
  'School Score Season Section Series Service Session Setting Shipment Shop Site Snapshot Staff Star Stat Status Step ' +
  'Stock Store Story Student Subject Supplier Survey Tag Task Tax Team Template Tenant Test Thread Ticket Todo Token Topic ' +
  'Track Transaction Trip Unit Update Upload User Value Variant Vehicle Vendor Version Video View Visit Vote Wallet ' +
  'Warehouse Webhook Widget Wish Work Workspace Zone'
).split(' ');

/** What follows a name in the name of another table: `PriceList`, `OrderGroup`, `FormField`. */
export const ENDINGS = (
  'List Group Order Filter Field Connection Edge Key Item Value Values Count Counts Sum Sums Input Aggregate Type Status ' +
  'Log Entry Line History Index Data s ListFilter ListOrder Averages'
).split(' ');

/** Frequent names of columns, those of operators and arguments among them. */
export const COLUMNS = (
  'name title slug status type kind body text content description email phone url path code key value values count sum ' +
  'avg min max limit offset first last before after where orderBy order by and or not in is some every none eq gt lt ' +
  'contains search input node nodes edges cursor totalCount pageInfo position rank score rating price amount total ' +
  'quantity currency color icon image images avatar language locale country city state zip street address latitude ' +
  'longitude active enabled public archived deleted published verified locked startsAt endsAt expiresAt dueDate birthday ' +
  'age size width height length weight version revision hash token secret data meta metadata settings config options ' +
  'tags labels permissions scopes roles note notes comment reason message subject summary priority level category group ' +
  'default from to at on of as create update delete connect set filter list field skipDuplicates distinct having mode ' +
  'createdBy externalId parentId ownerId tagIds self query mutation subscription null constructor prototype toString'
).split(' ');
