mkdir Books
cd Books
swift package init --type library --name Books
