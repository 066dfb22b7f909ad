import { findTag, startTag } from './start-tag.ts';

startTag(findTag());
