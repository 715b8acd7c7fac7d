"""The DMP host core: messages, deliveries, mailboxes, questions and answers (sections 3-7, 9, 10)."""
