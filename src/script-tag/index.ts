import { findTag } from './find-tag.ts';
import { startTag } from './start-tag.ts';

startTag(findTag());
